// Types of facts and what each of them may say. One table: readers, JSON Schemas, the check for
// contradictions and the projection to FHIR all follow it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

// Spelled like the FHIR R4 resources they become.
enum class FactType {
  MedicationStatement,
  Observation,
  Condition,
  AllergyIntolerance,
  Immunization,
  Procedure,
  Patient,
  Practitioner,
  Encounter,
};

std::string_view to_string(FactType type);
std::optional<FactType> parse_fact_type(std::string_view text);
std::span<const FactType> fact_types();

enum class FieldKind {
  text,
  date,      // "2024", "2024-03" or "2024-03-05"
  quantity,  // {"value": 500, "unit": "mg"}; unit may be null
  range,     // {"low": 3.5, "high": 5.1}; one of them may be null
  choice,
};

struct FieldRule {
  std::string_view name;
  FieldKind kind = FieldKind::text;
  bool required = false;
  bool contradicts = false;  // Two facts of one name that differ in it cannot both be right.
  std::span<const std::string_view> choices = {};
};

// The first one names what the fact is about.
std::span<const FieldRule> fields_of(FactType type);

// Doses and allergies: a mistake in these does harm at once.
bool is_critical(FactType type);

}  // namespace millrace::layout::clinical
