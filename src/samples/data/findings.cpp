#include "samples/data/terms.h"

namespace millrace::samples {
namespace {

constexpr auto kConditionsEn = std::to_array<Term>({
    {"hypertension"},
    {"type 2 diabetes mellitus"},
    {"atrial fibrillation"},
    {"chronic kidney disease"},
    {"asthma"},
    {"chronic obstructive pulmonary disease"},
    {"coronary artery disease"},
    {"heart failure"},
    {"hypothyroidism"},
    {"osteoarthritis"},
    {"rheumatoid arthritis"},
    {"gastro-oesophageal reflux disease"},
    {"depression"},
    {"migraine"},
    {"gout"},
    {"osteoporosis"},
    {"community-acquired pneumonia"},
    {"iron deficiency anaemia"},
    {"deep vein thrombosis"},
    {"breast cancer"},
    {"Parkinson disease"},
    {"hyperlipidaemia"},
    {"epilepsy"},
    {"diverticulitis"},
    {"Schnitzler syndrome", true},
    {"eosinophilic fasciitis", true},
    {"Susac syndrome", true},
    {"Erdheim-Chester disease", true},
    {"calciphylaxis", true},
    {"Morvan syndrome", true},
    {"pachydermoperiostosis", true},
    {"Tolmer-Ruys neuropathy", true},
    {"verrucous elastosis", true},
    {"Kessling arteritis", true},
    {"mastocytic enterocolitis", true},
    {"Ormond disease", true},
    {"anetoderma", true},
    {"Vasko-Lindt dysplasia", true},
    {"chylous lymphedema praecox", true},
    {"hypophosphatasia", true},
    {"Breccian fever", true},
});

constexpr auto kConditionsDe = std::to_array<Term>({
    {"arterielle Hypertonie"},
    {"Diabetes mellitus Typ 2"},
    {"Vorhofflimmern"},
    {"chronische Niereninsuffizienz"},
    {"Asthma bronchiale"},
    {"COPD"},
    {"koronare Herzkrankheit"},
    {"Herzinsuffizienz"},
    {"Hypothyreose"},
    {"Osteoporose"},
    {"Gonarthrose"},
    {"Depression"},
    {"Gicht"},
    {"Pneumonie"},
    {"Schnitzler-Syndrom", true},
    {"eosinophile Fasziitis", true},
    {"Tolmer-Ruys-Neuropathie", true},
    {"Kessling-Arteriitis", true},
    {"Kalziphylaxie", true},
    {"Morbus Ormond", true},
    {"Vasko-Lindt-Dysplasie", true},
});

constexpr auto kConditionsFr = std::to_array<Term>({
    {"hypertension artérielle"},
    {"diabète de type 2"},
    {"fibrillation auriculaire"},
    {"insuffisance rénale chronique"},
    {"asthme"},
    {"BPCO"},
    {"insuffisance cardiaque"},
    {"hypothyroïdie"},
    {"ostéoporose"},
    {"goutte"},
    {"pneumonie"},
    {"syndrome dépressif"},
    {"syndrome de Schnitzler", true},
    {"fasciite à éosinophiles", true},
    {"neuropathie de Tolmer-Ruys", true},
    {"calciphylaxie", true},
    {"maladie d'Ormond", true},
    {"dysplasie de Vasko-Lindt", true},
});

constexpr auto kConditionsEs = std::to_array<Term>({
    {"hipertensión arterial"},
    {"diabetes mellitus tipo 2"},
    {"fibrilación auricular"},
    {"enfermedad renal crónica"},
    {"asma bronquial"},
    {"EPOC"},
    {"insuficiencia cardíaca"},
    {"hipotiroidismo"},
    {"osteoporosis"},
    {"gota"},
    {"neumonía"},
    {"depresión"},
    {"síndrome de Schnitzler", true},
    {"fascitis eosinofílica", true},
    {"neuropatía de Tolmer-Ruys", true},
    {"calcifilaxia", true},
    {"enfermedad de Ormond", true},
    {"displasia de Vasko-Lindt", true},
});

constexpr auto kSymptomsEn = std::to_array<Term>({
    {"chest pain"},
    {"shortness of breath"},
    {"fever"},
    {"dizziness"},
    {"nausea"},
    {"vomiting"},
    {"headache"},
    {"palpitations"},
    {"abdominal pain"},
    {"weight loss"},
    {"night sweats"},
    {"fatigue"},
    {"ankle swelling"},
    {"productive cough"},
    {"haemoptysis"},
    {"blurred vision"},
    {"dysuria"},
    {"diarrhoea"},
    {"constipation"},
    {"joint stiffness"},
    {"syncope"},
    {"rash"},
    {"sore throat"},
    {"pruritus"},
    {"thigh formication", true},
    {"oscillopsia", true},
    {"trismus", true},
    {"dysgeusia", true},
    {"xerophonia", true},
    {"nocturnal bruxalgia", true},
    {"allodynia of the scalp", true},
});

constexpr auto kSymptomsDe = std::to_array<Term>({
    {"Brustschmerzen"},
    {"Atemnot"},
    {"Fieber"},
    {"Schwindel"},
    {"Übelkeit"},
    {"Erbrechen"},
    {"Husten"},
    {"Kopfschmerzen"},
    {"Bauchschmerzen"},
    {"Gewichtsverlust"},
    {"Nachtschweiß"},
    {"Oszillopsie", true},
    {"Dysgeusie", true},
    {"Kopfhautallodynie", true},
});

constexpr auto kSymptomsFr = std::to_array<Term>({
    {"douleur thoracique"},
    {"dyspnée"},
    {"fièvre"},
    {"vertiges"},
    {"nausées"},
    {"vomissements"},
    {"toux"},
    {"céphalées"},
    {"perte de poids"},
    {"palpitations"},
    {"oscillopsie", true},
    {"dysgueusie", true},
    {"allodynie", true},
});

constexpr auto kSymptomsEs = std::to_array<Term>({
    {"dolor torácico"},
    {"disnea"},
    {"fiebre"},
    {"mareo"},
    {"náuseas"},
    {"vómitos"},
    {"tos"},
    {"cefalea"},
    {"pérdida de peso"},
    {"palpitaciones"},
    {"oscilopsia", true},
    {"disgeusia", true},
    {"alodinia", true},
});

constexpr auto kExaminationsEn = std::to_array<Term>({
    {"coronary angiography"},
    {"echocardiography"},
    {"colonoscopy"},
    {"CT scan of the chest"},
    {"gastroscopy"},
    {"lung function testing"},
    {"magnetocardiography", true},
    {"strain elastography", true},
});
constexpr auto kExaminationsDe = std::to_array<Term>({
    {"Koronarangiographie"},
    {"Echokardiographie"},
    {"Koloskopie"},
    {"Gastroskopie"},
    {"Magnetokardiographie", true},
});
constexpr auto kExaminationsFr = std::to_array<Term>({
    {"coronarographie"},
    {"échocardiographie"},
    {"coloscopie"},
    {"gastroscopie"},
    {"magnétocardiographie", true},
});
constexpr auto kExaminationsEs = std::to_array<Term>({
    {"coronariografía"},
    {"ecocardiografía"},
    {"colonoscopia"},
    {"gastroscopia"},
    {"magnetocardiografía", true},
});
constexpr auto kOperationsEn = std::to_array<Term>({
    {"appendicectomy"},
    {"total hip replacement"},
    {"laparoscopic cholecystectomy"},
    {"cataract surgery"},
    {"coronary artery bypass grafting"},
    {"inguinal hernia repair"},
    {"cryoneurolysis of the saphenous nerve", true},
    {"Halvorsen plication", true},
});
constexpr auto kOperationsDe = std::to_array<Term>({
    {"Appendektomie"},
    {"Cholezystektomie"},
    {"Hüftprothese rechts"},
    {"Kryoneurolyse", true},
});
constexpr auto kOperationsFr = std::to_array<Term>({
    {"appendicectomie"},
    {"cholécystectomie"},
    {"prothèse de hanche"},
    {"cryoneurolyse", true},
});
constexpr auto kOperationsEs = std::to_array<Term>({
    {"apendicectomía"},
    {"colecistectomía"},
    {"prótesis de cadera"},
    {"crioneurolisis", true},
});

constexpr auto kAllergensEn = std::to_array<Allergen>({
    {"penicillin", "rash"},
    {"sulfonamides", "urticaria"},
    {"latex", "contact dermatitis"},
    {"peanuts", "anaphylaxis"},
    {"iodinated contrast", "urticaria"},
    {"codeine", "nausea"},
    {"shellfish", "lip swelling"},
    {"aspirin", "bronchospasm"},
    {"chlorhexidine", "urticaria"},
    {"lupin flour", "facial swelling", true},
    {"methylisothiazolinone", "contact dermatitis", true},
    {"polysorbate 80", "flushing", true},
    {"Velmorix", "angioedema", true},
    {"patent blue dye", "hypotension", true},
});
constexpr auto kAllergensDe = std::to_array<Allergen>({
    {"Penicillin", "Exanthem"},
    {"Latex", "Kontaktekzem"},
    {"Erdnüsse", "Anaphylaxie"},
    {"Pflaster", "Juckreiz"},
    {"Chlorhexidin", "Urtikaria", true},
    {"Lupinenmehl", "Gesichtsschwellung", true},
});
constexpr auto kAllergensFr = std::to_array<Allergen>({
    {"pénicilline", "éruption cutanée"},
    {"latex", "eczéma de contact"},
    {"arachide", "anaphylaxie"},
    {"chlorhexidine", "urticaire"},
    {"farine de lupin", "œdème du visage", true},
});
constexpr auto kAllergensEs = std::to_array<Allergen>({
    {"penicilina", "exantema"},
    {"látex", "dermatitis de contacto"},
    {"cacahuete", "anafilaxia"},
    {"clorhexidina", "urticaria"},
    {"harina de altramuz", "edema facial", true},
});

template <class T>
std::span<const T> by(Language language, std::span<const T> en, std::span<const T> de,
                      std::span<const T> fr, std::span<const T> es) {
  switch (language) {
    case Language::en:
      return en;
    case Language::de:
      return de;
    case Language::fr:
      return fr;
    case Language::es:
      return es;
  }
  return {};
}

}  // namespace

std::span<const Term> conditions(Language language) {
  return by<Term>(language, kConditionsEn, kConditionsDe, kConditionsFr, kConditionsEs);
}

std::span<const Term> symptoms(Language language) {
  return by<Term>(language, kSymptomsEn, kSymptomsDe, kSymptomsFr, kSymptomsEs);
}

std::span<const Term> examinations(Language language) {
  return by<Term>(language, kExaminationsEn, kExaminationsDe, kExaminationsFr, kExaminationsEs);
}

std::span<const Term> operations(Language language) {
  return by<Term>(language, kOperationsEn, kOperationsDe, kOperationsFr, kOperationsEs);
}

std::span<const Allergen> allergens(Language language) {
  return by<Allergen>(language, kAllergensEn, kAllergensDe, kAllergensFr, kAllergensEs);
}

}  // namespace millrace::samples
