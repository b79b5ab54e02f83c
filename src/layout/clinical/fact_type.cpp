#include "layout/clinical/fact_type.h"

#include "layout/clinical/pass.h"

#include <array>

namespace millrace::layout::clinical {
namespace {

constexpr auto kTypes = std::to_array<Label<FactType>>({
    {FactType::MedicationStatement, "MedicationStatement"},
    {FactType::Observation, "Observation"},
    {FactType::Condition, "Condition"},
    {FactType::AllergyIntolerance, "AllergyIntolerance"},
    {FactType::Immunization, "Immunization"},
    {FactType::Procedure, "Procedure"},
    {FactType::Patient, "Patient"},
    {FactType::Practitioner, "Practitioner"},
    {FactType::Encounter, "Encounter"},
});

constexpr auto kAll = std::to_array<FactType>(
    {FactType::MedicationStatement, FactType::Observation, FactType::Condition,
     FactType::AllergyIntolerance, FactType::Immunization, FactType::Procedure, FactType::Patient,
     FactType::Practitioner, FactType::Encounter});

constexpr auto kComparators = std::to_array<std::string_view>({"<", "<=", ">", ">="});
constexpr auto kFlags =
    std::to_array<std::string_view>({"low", "normal", "high", "abnormal", "critical"});
constexpr auto kSeverities = std::to_array<std::string_view>({"mild", "moderate", "severe"});
constexpr auto kSexes = std::to_array<std::string_view>({"female", "male", "other", "unknown"});

constexpr auto kMedication = std::to_array<FieldRule>({
    {.name = "drug", .required = true},
    {.name = "dose", .kind = FieldKind::quantity, .contradicts = true},
    {.name = "route"},
    {.name = "frequency", .contradicts = true},
    {.name = "duration"},
    {.name = "start", .kind = FieldKind::date},
    {.name = "end", .kind = FieldKind::date},
});

constexpr auto kObservation = std::to_array<FieldRule>({
    {.name = "name", .required = true},
    {.name = "value", .kind = FieldKind::quantity},
    {.name = "text"},
    {.name = "comparator", .kind = FieldKind::choice, .choices = kComparators},
    {.name = "range", .kind = FieldKind::range},
    {.name = "flag", .kind = FieldKind::choice, .choices = kFlags},
    {.name = "effective", .kind = FieldKind::date},
});

constexpr auto kCondition = std::to_array<FieldRule>({
    {.name = "name", .required = true},
    {.name = "onset", .kind = FieldKind::date},
    {.name = "end", .kind = FieldKind::date},
    {.name = "severity"},
    {.name = "site"},
});

constexpr auto kAllergy = std::to_array<FieldRule>({
    {.name = "substance", .required = true},
    {.name = "reaction"},
    {.name = "severity", .kind = FieldKind::choice, .contradicts = true, .choices = kSeverities},
});

constexpr auto kImmunization = std::to_array<FieldRule>({
    {.name = "vaccine", .required = true},
    {.name = "date", .kind = FieldKind::date},
    {.name = "lot"},
});

constexpr auto kProcedure = std::to_array<FieldRule>({
    {.name = "name", .required = true},
    {.name = "date", .kind = FieldKind::date},
    {.name = "site"},
});

constexpr auto kPatient = std::to_array<FieldRule>({
    {.name = "name", .required = true},
    {.name = "birth_date", .kind = FieldKind::date, .contradicts = true},
    {.name = "sex", .kind = FieldKind::choice, .contradicts = true, .choices = kSexes},
    {.name = "identifier"},
});

constexpr auto kPractitioner = std::to_array<FieldRule>({
    {.name = "name", .required = true},
    {.name = "role"},
    {.name = "organization"},
});

constexpr auto kEncounter = std::to_array<FieldRule>({
    {.name = "kind", .required = true},
    {.name = "start", .kind = FieldKind::date},
    {.name = "end", .kind = FieldKind::date},
    {.name = "place"},
});

}  // namespace

std::string_view to_string(FactType type) { return name_in(kTypes, type); }

std::optional<FactType> parse_fact_type(std::string_view text) { return value_in(kTypes, text); }

std::span<const FactType> fact_types() { return kAll; }

std::span<const FieldRule> fields_of(FactType type) {
  switch (type) {
    case FactType::MedicationStatement:
      return kMedication;
    case FactType::Observation:
      return kObservation;
    case FactType::Condition:
      return kCondition;
    case FactType::AllergyIntolerance:
      return kAllergy;
    case FactType::Immunization:
      return kImmunization;
    case FactType::Procedure:
      return kProcedure;
    case FactType::Patient:
      return kPatient;
    case FactType::Practitioner:
      return kPractitioner;
    case FactType::Encounter:
      return kEncounter;
  }
  return {};
}

bool is_critical(FactType type) {
  return type == FactType::MedicationStatement || type == FactType::AllergyIntolerance;
}

}  // namespace millrace::layout::clinical
