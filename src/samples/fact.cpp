#include "samples/fact.h"

#include <boost/json/object.hpp>

#include <array>
#include <utility>

namespace millrace::samples {
namespace {

constexpr auto kTypes = std::to_array<std::pair<FactType, std::string_view>>({
    {FactType::medication, "medication"},
    {FactType::lab, "lab"},
    {FactType::allergy, "allergy"},
    {FactType::condition, "condition"},
    {FactType::procedure, "procedure"},
    {FactType::vital, "vital"},
    {FactType::date, "date"},
    {FactType::person, "person"},
    {FactType::identifier, "identifier"},
});

void put(json::Object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put(json::Object& object, std::string_view key, std::optional<double> number) {
  if (number) object[key] = *number;
}

}  // namespace

std::string_view to_string(FactType type) {
  for (const auto& [value, name] : kTypes) {
    if (value == type) return name;
  }
  return {};
}

std::optional<FactType> parse_fact_type(std::string_view text) {
  for (const auto& [value, name] : kTypes) {
    if (name == text) return value;
  }
  return std::nullopt;
}

json::Object to_json(const Fact& fact) {
  json::Object object;
  object["type"] = to_string(fact.type);
  object["name"] = fact.name;
  object["text"] = fact.text;
  object["page"] = fact.page;
  object["novel"] = fact.novel;
  json::Object assertion;
  assertion["negated"] = fact.assertion.negated;
  assertion["family"] = fact.assertion.family;
  assertion["historical"] = fact.assertion.historical;
  assertion["hypothetical"] = fact.assertion.hypothetical;
  object["assertion"] = std::move(assertion);
  if (fact.dose) {
    object["dose"] = json::Object{{"value", fact.dose->value}, {"unit", fact.dose->unit}};
  }
  if (!fact.frequency.empty()) {
    object["frequency"] = json::Object{{"normal", fact.frequency}, {"text", fact.frequency_text}};
  }
  put(object, "route", fact.route);
  put(object, "value", fact.value);
  put(object, "comparator", fact.comparator);
  put(object, "value_text", fact.value_text);
  put(object, "unit", fact.unit);
  put(object, "low", fact.low);
  put(object, "high", fact.high);
  put(object, "flag", fact.flag);
  put(object, "reaction", fact.reaction);
  put(object, "iso", fact.iso);
  put(object, "role", fact.role);
  return object;
}

}  // namespace millrace::samples
