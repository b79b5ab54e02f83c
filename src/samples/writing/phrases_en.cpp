#include "samples/writing/phrases.h"

#include <array>

namespace millrace::samples {
namespace {

using namespace std::string_view_literals;

constexpr auto kOpenings = std::to_array({
    "Thank you for referring {patient}, a {age}-year-old {sex man|woman}, who was admitted on {date 40} with {symptom} and {symptom}."sv,
    "We report on {patient}, who was under our care from {date 60} because of {symptom}. The stay was uneventful until the second day, when {he} noticed {symptom}."sv,
    "I saw {mister} in clinic on {date 20}. {he} is {age} years old and lives alone. The main complaint was {symptom} for about {num 2 9} weeks."sv,
    "{mister} was brought to the emergency department on {date 15} after an episode of {symptom}. A neighbour had found {him} in the garden."sv,
    "Many thanks for asking me to review this {age}-year-old {sex gentleman|lady}. Over the past {num 2 6} months {he} has had increasing {symptom} and some {symptom}."sv,
    "This is to inform you of the admission of {patient} to our ward from {date 50} until {date 7}. {he} presented with {symptom}, which had begun {num 2 9} days earlier."sv,
    "{patient} attended for a routine review on {date 10}. Since the last visit {he} has felt well apart from occasional {symptom}."sv,
});

constexpr auto kDiagnoses = std::to_array({
    "{cond}"sv,
    "{cond}"sv,
    "{cond}"sv,
    "{cond}, first diagnosed in {year}"sv,
    "{cond}, stable under treatment"sv,
    "{hist cond} in {year}, resolved"sv,
    "status after {hist op} on {date 900}"sv,
    "{cond}, under review by {doctor}"sv,
});

constexpr auto kHistory = std::to_array({
    "{he} has a background of {cond} and {cond}."sv,
    "Past history includes {hist cond} in {year} and {hist op}."sv,
    "{his} {cond} was diagnosed in {year} and has been followed up regularly since then."sv,
    "There is a history of {hist cond}, treated successfully, and of {cond}."sv,
    "Previous operations: {hist op} in {year}. {he} also has {cond}, which has given no trouble lately."sv,
    "Known problems are {cond} and {cond}; both are managed in primary care."sv,
});

constexpr auto kDenials = std::to_array({
    "{he} denies {neg symptom}, {neg symptom} or {neg symptom}."sv,
    "There was no {neg symptom} and no {neg symptom}."sv,
    "On direct questioning {he} denied {neg symptom}; there was no complaint of {neg symptom} either."sv,
    "{he} had neither {neg symptom} nor {neg symptom} in the preceding weeks."sv,
    "Review of systems was negative for {neg symptom}, {neg symptom} and {neg symptom}."sv,
    "{he} has been free of {neg symptom}, and reports no {neg symptom}."sv,
});

constexpr auto kFindings = std::to_array({
    "On examination {he} was alert and comfortable at rest. Blood pressure {vital bp}, pulse {vital pulse} regular, temperature {vital temp}, oxygen saturation {vital sat} on air."sv,
    "Clinical examination: weight {vital weight}, blood pressure {vital bp}, heart rate {vital pulse}. Heart sounds were normal and the abdomen was soft."sv,
    "Observations on arrival were temperature {vital temp}, pulse {vital pulse} and blood pressure {vital bp}. Breath sounds were reduced at the left base."sv,
    "{he} looked tired but was fully orientated. Weight was {vital weight}, oxygen saturation {vital sat}, blood pressure {vital bp} sitting."sv,
});

constexpr auto kNoFindings = std::to_array({
    "The [procedure|chest radiograph] showed no evidence of [neg condition|pneumothorax]."sv,
    "[procedure|Ultrasound of the legs] excluded [neg condition|venous thrombosis]."sv,
    "The [procedure|electrocardiogram] was in sinus rhythm, without signs of [neg condition|ischaemia]."sv,
    "There was no evidence of {neg cond}."sv,
    "{exam} on {date 14} was normal; in particular there was no [neg condition|pericardial effusion]."sv,
    "{exam} ruled out {neg cond}."sv,
    "{exam} confirmed {cond} but showed no sign of {neg cond}."sv,
});

constexpr auto kLabs = std::to_array({
    "Blood tests on {date 12} showed {lab}, {lab} and {lab}."sv,
    "Relevant results: {lab}; {lab}; {lab}; {lab}."sv,
    "Laboratory work-up revealed {lab} and {lab}, while {lab} was repeated twice."sv,
    "Bloods taken on {date 9}: {lab}, {lab}, {lab}. All other values were within normal limits."sv,
    "{lab} on admission; at discharge {lab} and {lab}."sv,
});

constexpr auto kCourses = std::to_array({
    "We started {med}, which was well tolerated. {he} improved within {num 2 5} days and was able to walk {num 2 9} hundred metres by the end of the week."sv,
    "Treatment with {med} was begun on {date 10} and {he} made a good recovery. {his} appetite returned and {he} was sleeping better."sv,
    "After {exam} on {date 10} we commenced {med} and {med}. The further course was without complications."sv,
    "{he} was given {med} on the ward. The physiotherapists saw {him} daily and {he} was mobile on the stairs by {date 6}."sv,
    "I have asked {him} to take {med} and, at least until the next visit, {med}."sv,
});

constexpr auto kStopped = std::to_array({
    "{hist med} was stopped on {date 9} because of [condition|dizzy spells] in the morning."sv,
    "{his} previous treatment with {hist med} has been discontinued."sv,
    "{he} had taken {hist med} until {year} and does not wish to take it again."sv,
    "We have discontinued {hist drug} in view of the kidney function."sv,
    "{he} is no longer taking {hist drug}."sv,
});

constexpr auto kAllergies = std::to_array({
    "{he} is allergic to {allergy}."sv,
    "Known allergies: {allergy}, {allergy}."sv,
    "Allergies: {allergy}."sv,
    "{he} reports an allergy to {allergy}."sv,
    "{allergy}; {allergy}."sv,
});

constexpr auto kNoAllergies = std::to_array({
    "No [neg allergy|known drug allergies]."sv,
    "No [neg allergy|known allergies]."sv,
    "{he} has no [neg allergy|known drug allergies]."sv,
});

constexpr auto kFamily = std::to_array({
    "{his} mother had {fam cond} and {his} father died of {fam cond} at the age of {num 52 81}."sv,
    "Family history: a brother with {fam cond}; no family history of {neg fam cond}."sv,
    "{his} maternal grandmother suffered from {fam cond}."sv,
    "There is a strong family history of {fam cond} on the paternal side."sv,
    "{his} sister was diagnosed with {fam cond} in {year}; both parents are alive and well."sv,
    "Father: {fam cond}. Mother: {fam cond}."sv,
});

constexpr auto kPlans = std::to_array({
    "We would be grateful if you could check {his} renal function in {num 2 6} weeks. {he} will be seen in our clinic again."sv,
    "{he} has been given written advice and an appointment with {doctor}."sv,
    "Please continue the treatment above; a follow-up visit has been arranged with {doctor}."sv,
    "A repeat {hyp exam} is planned in {num 3 9} months."sv,
    "I would suggest that the practice nurse checks the blood pressure weekly. I have not arranged to see {him} again but am happy to do so."sv,
});

constexpr auto kHypotheses = std::to_array({
    "{he} should return immediately if {hyp symptom} or {hyp symptom} should occur."sv,
    "Should {he} develop {hyp symptom}, please refer {him} back to us without delay."sv,
    "If {hyp symptom} recurs, {hyp drug} could be considered."sv,
    "We have told {him} to call us in case of {hyp symptom}."sv,
    "{he} knows to seek help if {he} notices {hyp symptom}."sv,
});

constexpr LetterPhrases kEnglish = {
    .salutation = "Dear Dr {addressee},",
    .closing = "Thank you for your continued care.",
    .sincerely = "Yours sincerely,",
    .phone = "Tel.",
    .birth_key = "Date of birth:",
    .number_key = "Hospital no.:",
    .date_key = "Date:",
    .patient_key = "Patient:",
    .subject = "Re:",
    .diagnoses_title = "Diagnoses",
    .history_title = "History",
    .findings_title = "Examination and findings",
    .labs_title = "Laboratory results",
    .course_title = "Course and treatment",
    .medication_title = "Medication on discharge",
    .allergies_title = "Allergies",
    .family_title = "Family history",
    .plan_title = "Plan",
    .role = "Consultant physician",
    .page_footer = "Page {n} of {of}",
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

const LetterPhrases& english_phrases() { return kEnglish; }

}  // namespace millrace::samples
