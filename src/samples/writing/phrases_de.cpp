#include "samples/writing/phrases.h"

#include <array>

namespace millrace::samples {
namespace {

using namespace std::string_view_literals;

constexpr auto kOpenings = std::to_array({
    "wir berichten über {patient}, {sex der|die} sich vom {date 40} an wegen {symptom} und {symptom} in unserer stationären Behandlung befand."sv,
    "vielen Dank für die Überweisung von {sex Herrn|Frau} {patient}, {age} Jahre, {sex der|die} sich am {date 20} mit {symptom} in unserer Ambulanz vorstellte."sv,
    "am {date 15} stellte sich {patient} erstmals in unserer Sprechstunde vor. Anlass waren {symptom} seit etwa {num 2 9} Wochen."sv,
});
constexpr auto kDiagnoses = std::to_array({
    "{cond}"sv,
    "{cond}"sv,
    "{cond}, Erstdiagnose {year}"sv,
    "{cond}, unter Therapie stabil"sv,
    "Zustand nach {hist op} am {date 900}"sv,
});
constexpr auto kHistory = std::to_array({
    "An Vorerkrankungen bestehen {cond} und {cond}."sv,
    "Vorgeschichte: {hist cond} im Jahr {year}, seither ohne Rückfall; {cond}."sv,
    "Bekannt sind {cond} sowie {cond}, beides in regelmäßiger Kontrolle."sv,
});
constexpr auto kDenials = std::to_array({
    "{symptom} wurde berichtet, {neg symptom} und {neg symptom} wurden verneint."sv,
    "Kein {neg symptom}, keine Hinweise auf {neg cond}."sv,
    "{sex Der Patient|Die Patientin} verneint {neg symptom}, {neg symptom} und {neg symptom}."sv,
});
constexpr auto kFindings = std::to_array({
    "{sex Patient|Patientin} in gutem Allgemeinzustand. Blutdruck {vital bp}, Puls {vital pulse}, Temperatur {vital temp}, Sauerstoffsättigung {vital sat}."sv,
    "Bei Aufnahme Gewicht {vital weight}, Blutdruck {vital bp}, Herzfrequenz {vital pulse}. Herztöne rein, Abdomen weich."sv,
});
constexpr auto kNoFindings = std::to_array({
    "Röntgenologisch kein Anhalt für [neg condition|Pneumothorax]."sv,
    "Sonographisch kein Nachweis von [neg condition|Aszites]."sv,
    "{exam} am {date 14} unauffällig, insbesondere kein [neg condition|Perikarderguss]."sv,
});
constexpr auto kLabs = std::to_array({
    "Im Labor vom {date 12} fanden sich {lab}, {lab} und {lab}."sv,
    "Auffällige Werte: {lab}; {lab}; {lab}."sv,
});
constexpr auto kCourses = std::to_array({
    "Wir begannen eine Behandlung mit {med}. Darunter besserte sich der Zustand innerhalb von {num 2 5} Tagen deutlich."sv,
    "Ab dem {date 10} gaben wir {med} und {med}; der weitere Verlauf war komplikationslos."sv,
});
constexpr auto kStopped = std::to_array({
    "{hist med} wurde am {date 9} abgesetzt."sv,
    "Die frühere Behandlung mit {hist med} wurde beendet."sv,
});
constexpr auto kAllergies = std::to_array({
    "Bekannte Allergien: {allergy}."sv,
    "Allergie gegen {allergy} und {allergy}."sv,
});
constexpr auto kNoAllergies = std::to_array({
    "Keine [neg allergy|bekannten Allergien]."sv,
});
constexpr auto kFamily = std::to_array({
    "Mutter: {fam cond}. Vater: {fam cond}, verstorben mit {num 52 81} Jahren."sv,
    "Familienanamnese: Bruder mit {fam cond}; kein Fall von {neg fam cond} in der Familie."sv,
});
constexpr auto kPlans = std::to_array({
    "Wir bitten um Kontrolle der Nierenwerte in {num 2 6} Wochen. Ein Termin bei {doctor} ist vereinbart."sv,
    "Wir bitten um Fortführung der Medikation. Eine Wiedervorstellung ist in {num 3 9} Monaten geplant."sv,
});
constexpr auto kHypotheses = std::to_array({
    "Bei erneutem Auftreten von {hyp symptom} oder {hyp symptom} bitten wir um sofortige Vorstellung."sv,
    "Sollte {hyp symptom} auftreten, kann die Umstellung auf {hyp drug} erwogen werden."sv,
});

constexpr LetterPhrases kGerman = {
    .salutation = "Sehr geehrte Kollegin, sehr geehrter Kollege {addressee},",
    .closing = "Vielen Dank für die gute Zusammenarbeit.",
    .sincerely = "Mit freundlichen kollegialen Grüßen",
    .phone = "Tel.",
    .birth_key = "geb. am",
    .number_key = "Patientennr.:",
    .date_key = "Datum:",
    .patient_key = "Patient:",
    .subject = "Betreff:",
    .diagnoses_title = "Diagnosen",
    .history_title = "Anamnese",
    .findings_title = "Untersuchungsbefund",
    .labs_title = "Laborwerte",
    .course_title = "Therapie und Verlauf",
    .medication_title = "Medikation bei Entlassung",
    .allergies_title = "Allergien",
    .family_title = "Familienanamnese",
    .plan_title = "Procedere",
    .role = "Oberarzt der Klinik",
    .page_footer = "Seite {n} von {of}",
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

const LetterPhrases& german_phrases() { return kGerman; }

}  // namespace millrace::samples
