#include "samples/writing/phrases.h"

#include <array>

namespace millrace::samples {
namespace {

using namespace std::string_view_literals;

constexpr auto kOpenings = std::to_array({
    "Nous vous remercions de nous avoir adressé {patient}, {sex âgé|âgée} de {age} ans, {sex hospitalisé|hospitalisée} le {date 40} pour {symptom} et {symptom}."sv,
    "J'ai vu en consultation le {date 20} votre {sex patient|patiente} {patient}, qui présente depuis {num 2 9} semaines les signes suivants : {symptom}, {symptom}."sv,
    "{patient} a été {sex admis|admise} dans notre service le {date 15} devant un tableau associant {symptom} et {symptom}."sv,
});
constexpr auto kDiagnoses = std::to_array({
    "{cond}"sv,
    "{cond}"sv,
    "{cond}, connue depuis {year}"sv,
    "{cond}, stable sous traitement"sv,
    "antécédent de {hist op} le {date 900}"sv,
});
constexpr auto kHistory = std::to_array({
    "Principaux antécédents : {cond}, {cond}."sv,
    "On note dans les antécédents : {hist cond} en {year}, {cond}."sv,
    "Le suivi porte sur {cond} et {cond}, sans modification récente."sv,
});
constexpr auto kDenials = std::to_array({
    "Pas de {neg symptom}, pas de {neg symptom}."sv,
    "À l'interrogatoire, absence de {neg symptom} et de {neg symptom}."sv,
    "{sex Le patient|La patiente} ne signale ni {neg symptom} ni {neg symptom}."sv,
});
constexpr auto kFindings = std::to_array({
    "L'état général est conservé. Tension artérielle {vital bp}, pouls {vital pulse}, température {vital temp}, saturation {vital sat} en air ambiant."sv,
    "À l'examen : poids {vital weight}, tension artérielle {vital bp}, fréquence cardiaque {vital pulse}. Abdomen souple."sv,
});
constexpr auto kNoFindings = std::to_array({
    "La [procedure|radiographie] ne montre pas de [neg condition|pneumothorax]."sv,
    "{exam} du {date 14} sans anomalie, en particulier pas d'[neg condition|épanchement péricardique]."sv,
    "Aucun argument pour {neg cond}."sv,
});
constexpr auto kLabs = std::to_array({
    "Biologie du {date 12} : {lab}, {lab}, {lab}."sv,
    "Les résultats utiles sont les suivants : {lab} ; {lab} ; {lab}."sv,
});
constexpr auto kCourses = std::to_array({
    "Un traitement par {med} a été débuté, avec une nette amélioration en {num 2 5} jours."sv,
    "À partir du {date 10} nous avons prescrit {med} et {med} ; les suites ont été simples."sv,
});
constexpr auto kStopped = std::to_array({
    "Le traitement antérieur par {hist med} a été arrêté le {date 9}."sv,
    "Nous avons interrompu {hist drug} en raison de la fonction rénale."sv,
});
constexpr auto kAllergies = std::to_array({
    "Allergie connue : {allergy}."sv,
    "Allergies : {allergy}, {allergy}."sv,
});
constexpr auto kNoAllergies = std::to_array({
    "Pas d'[neg allergy|allergie connue]."sv,
});
constexpr auto kFamily = std::to_array({
    "Antécédents familiaux : {fam cond} chez la mère, {fam cond} chez le père."sv,
    "Un frère est suivi pour {fam cond}."sv,
});
constexpr auto kPlans = std::to_array({
    "Merci de contrôler la fonction rénale dans {num 2 6} semaines. Un rendez-vous est prévu avec le {doctor}."sv,
    "Le traitement est à poursuivre ; une nouvelle consultation aura lieu dans {num 3 9} mois."sv,
});
constexpr auto kHypotheses = std::to_array({
    "En cas de {hyp symptom} ou de {hyp symptom}, merci de nous l'adresser sans délai."sv,
    "Si {hyp symptom} réapparaît, un traitement par {hyp drug} pourrait être discuté."sv,
});

constexpr LetterPhrases kFrench = {
    .salutation = "Cher Docteur {addressee},",
    .closing = "Nous restons à votre disposition pour tout renseignement.",
    .sincerely = "Bien confraternellement,",
    .phone = "Tél.",
    .birth_key = "né(e) le",
    .number_key = "Dossier n° :",
    .date_key = "Le",
    .patient_key = "Patient :",
    .subject = "Objet :",
    .diagnoses_title = "Diagnostics",
    .history_title = "Antécédents",
    .findings_title = "Examen clinique",
    .labs_title = "Biologie",
    .course_title = "Évolution et traitement",
    .medication_title = "Traitement de sortie",
    .allergies_title = "Allergies",
    .family_title = "Antécédents familiaux",
    .plan_title = "Conduite à tenir",
    .role = "Praticien hospitalier",
    .page_footer = "Page {n} sur {of}",
    .openings = kOpenings,
    .diagnoses = kDiagnoses,
    .history = kHistory,
    .denials = kDenials,
    .findings = kFindings,
    .no_findings = kNoFindings,
    .labs = kLabs,
    .courses = kCourses,
    .stopped = kStopped,
    .allergies = kAllergies,
    .no_allergies = kNoAllergies,
    .family = kFamily,
    .plans = kPlans,
    .hypotheses = kHypotheses,
};

}  // namespace

const LetterPhrases& french_phrases() { return kFrench; }

}  // namespace millrace::samples
