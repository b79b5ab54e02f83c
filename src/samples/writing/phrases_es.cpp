#include "samples/writing/phrases.h"

#include <array>

namespace millrace::samples {
namespace {

using namespace std::string_view_literals;

constexpr auto kOpenings = std::to_array({
    "Le agradecemos que nos haya remitido a {patient}, de {age} años, que ingresó el {date 40} por {symptom} y {symptom}."sv,
    "He atendido en consulta el {date 20} a {patient}, que refiere desde hace {num 2 9} semanas {symptom}."sv,
    "{patient} acudió a urgencias el {date 15} con un cuadro de {symptom} y {symptom}."sv,
});
constexpr auto kDiagnoses = std::to_array({
    "{cond}"sv,
    "{cond}"sv,
    "{cond}, con diagnóstico en {year}"sv,
    "{cond}, estable con tratamiento"sv,
    "antecedente de {hist op} el {date 900}"sv,
});
constexpr auto kHistory = std::to_array({
    "Antecedentes personales: {cond}, {cond}."sv,
    "Entre los antecedentes destacan {hist cond} en {year} y {cond}."sv,
});
constexpr auto kDenials = std::to_array({
    "Niega {neg symptom}, {neg symptom} y {neg symptom}."sv,
    "No refiere {neg symptom} ni {neg symptom}."sv,
});
constexpr auto kFindings = std::to_array({
    "Buen estado general. Presión arterial {vital bp}, pulso {vital pulse}, temperatura {vital temp}, saturación {vital sat}."sv,
    "En la exploración, peso {vital weight}, presión arterial {vital bp} y frecuencia cardíaca {vital pulse}. Abdomen blando."sv,
});
constexpr auto kNoFindings = std::to_array({
    "La [procedure|radiografía] no mostró [neg condition|neumotórax]."sv,
    "{exam} del {date 14} sin alteraciones; en particular, sin [neg condition|derrame pericárdico]."sv,
    "Sin datos de {neg cond}."sv,
});
constexpr auto kLabs = std::to_array({
    "En la analítica del {date 12}: {lab}, {lab} y {lab}."sv,
    "Resultados relevantes: {lab}; {lab}; {lab}."sv,
});
constexpr auto kCourses = std::to_array({
    "Se inició tratamiento con {med}, con clara mejoría en {num 2 5} días."sv,
    "Desde el {date 10} recibió {med} y {med}; la evolución fue favorable."sv,
});
constexpr auto kStopped = std::to_array({
    "El tratamiento previo con {hist med} se suspendió el {date 9}."sv,
    "Se ha retirado {hist drug} por la función renal."sv,
});
constexpr auto kAllergies = std::to_array({
    "Alergias conocidas: {allergy}."sv,
    "Alergia a {allergy} y a {allergy}."sv,
});
constexpr auto kNoAllergies = std::to_array({
    "Sin [neg allergy|alergias medicamentosas conocidas]."sv,
});
constexpr auto kFamily = std::to_array({
    "Madre con {fam cond}; padre fallecido por {fam cond} a los {num 52 81} años."sv,
    "Antecedentes familiares: un hermano con {fam cond}."sv,
});
constexpr auto kPlans = std::to_array({
    "Rogamos control de la función renal en {num 2 6} semanas. Tiene cita con el {doctor}."sv,
    "Debe continuar el tratamiento indicado; se le citará de nuevo en {num 3 9} meses."sv,
});
constexpr auto kHypotheses = std::to_array({
    "Si aparece {hyp symptom} o {hyp symptom}, debe acudir a urgencias."sv,
    "En caso de {hyp symptom} podría valorarse {hyp drug}."sv,
});

constexpr LetterPhrases kSpanish = {
    .salutation = "Estimado/a Dr./Dra. {addressee}:",
    .closing = "Quedamos a su disposición para cualquier aclaración.",
    .sincerely = "Atentamente,",
    .phone = "Tel.",
    .birth_key = "fecha de nacimiento:",
    .number_key = "historia n.º:",
    .date_key = "Fecha:",
    .patient_key = "Paciente:",
    .subject = "Asunto:",
    .diagnoses_title = "Diagnósticos",
    .history_title = "Antecedentes",
    .findings_title = "Exploración física",
    .labs_title = "Analítica",
    .course_title = "Evolución y tratamiento",
    .medication_title = "Tratamiento al alta",
    .allergies_title = "Alergias",
    .family_title = "Antecedentes familiares",
    .plan_title = "Plan",
    .role = "Médico adjunto",
    .page_footer = "Página {n} de {of}",
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

const LetterPhrases& spanish_phrases() { return kSpanish; }

}  // namespace millrace::samples
