#include "extract/extract.h"
#include "layout/clinical/fact_type.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/routing.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace millrace::extract {
namespace {

using layout::clinical::Certainty;
using layout::clinical::Fact;
using layout::clinical::FactType;
using layout::clinical::Polarity;
using layout::clinical::Subject;
using layout::clinical::Temporality;

std::string text_at(const json::Object& value, std::string_view field) {
  const auto* found = value.if_contains(field);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string number(const json::Value& value) {
  if (!value.is_number()) return {};
  auto text = fmt::format("{}", value.to_number<double>());
  // An exponent would read as a second number.
  return text.find('e') == std::string::npos ? text : std::string();
}

std::string quantity_at(const json::Object& value, std::string_view field) {
  const auto* found = value.if_contains(field);
  const auto* object = found == nullptr ? nullptr : found->if_object();
  if (object == nullptr) return {};
  auto text = number(object->at("value"));
  if (text.empty()) return {};
  if (object->at("unit").is_string())
    text += fmt::format(" {}", std::string_view(object->at("unit").get_string()));
  return text;
}

std::string range_at(const json::Object& value) {
  const auto* found = value.if_contains("range");
  const auto* object = found == nullptr ? nullptr : found->if_object();
  if (object == nullptr) return {};
  const auto low = number(object->at("low"));
  const auto high = number(object->at("high"));
  if (!low.empty() && !high.empty()) return fmt::format("usual range {} to {}", low, high);
  if (!high.empty()) return fmt::format("usually below {}", high);
  return low.empty() ? std::string() : fmt::format("usually above {}", low);
}

std::string joined(std::initializer_list<std::string> parts, std::string_view between) {
  std::string out;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += between;
    out += part;
  }
  return out;
}

std::string prefixed(std::string_view prefix, const std::string& text) {
  return text.empty() ? std::string() : fmt::format("{} {}", prefix, text);
}

std::string medicine(const Fact& fact) {
  const auto& value = fact.value;
  return joined(
      {joined({std::string(fact.name()), quantity_at(value, "dose")}, " "), text_at(value, "route"),
       text_at(value, "frequency"), text_at(value, "duration"),
       prefixed("since", text_at(value, "start")), prefixed("until", text_at(value, "end"))},
      ", ");
}

std::string result(const Fact& fact) {
  const auto& value = fact.value;
  const auto measured = joined(
      {text_at(value, "comparator"), quantity_at(value, "value"), text_at(value, "text")}, " ");
  const auto flag = text_at(value, "flag");
  const auto aside = joined({flag, range_at(value)}, ", ");
  auto out = fmt::format("{}: {}", fact.name(), measured);
  if (!aside.empty()) out += fmt::format(" ({})", aside);
  return out + prefixed(", on", text_at(value, "effective"));
}

std::string said_of(const Fact& fact, std::string what) {
  const auto& assertion = fact.assertion;
  if (assertion.polarity == Polarity::negated) return "Not present: " + what;
  if (fact.subject == Subject::family) return "In the family: " + what;
  if (assertion.temporality == Temporality::hypothetical)
    return "Only mentioned as a possibility: " + what;
  if (assertion.certainty == Certainty::possible) return "Suspected: " + what;
  if (assertion.certainty == Certainty::probable) return "Probable: " + what;
  if (assertion.temporality == Temporality::historical) return "In the past: " + what;
  return what;
}

std::string allergy(const Fact& fact, bool patient) {
  const auto& value = fact.value;
  if (fact.assertion.polarity == Polarity::negated)
    return fmt::format("Said not to be present: {}", fact.name());
  const auto what = joined(
      {fmt::format("{} {}", patient ? "You are said to be allergic to" : "Allergy:", fact.name()),
       prefixed("reaction:", text_at(value, "reaction")), text_at(value, "severity")},
      ", ");
  return fact.subject == Subject::family ? "In the family: " + what : what;
}

std::string told(const Fact& fact, bool patient) {
  const auto& value = fact.value;
  switch (fact.type) {
    case FactType::MedicationStatement: {
      const auto what = medicine(fact);
      const bool plain =
          fact.assertion == layout::clinical::Assertion{} && fact.subject == Subject::patient;
      return plain ? fmt::format("{}: {}", patient ? "Your medicine" : "Medication", what)
                   : said_of(fact, "medicine " + what);
    }
    case FactType::Observation:
      return said_of(fact, result(fact));
    case FactType::Condition:
      return said_of(fact, joined({std::string(fact.name()), text_at(value, "severity"),
                                   prefixed("since", text_at(value, "onset"))},
                                  ", "));
    case FactType::AllergyIntolerance:
      return allergy(fact, patient);
    case FactType::Immunization:
      return said_of(fact, joined({fmt::format("Vaccination: {}", fact.name()),
                                   prefixed("on", text_at(value, "date")),
                                   prefixed("lot", text_at(value, "lot"))},
                                  ", "));
    case FactType::Procedure:
      return said_of(fact, joined({fmt::format("Procedure: {}", fact.name()),
                                   prefixed("on", text_at(value, "date"))},
                                  ", "));
    case FactType::Patient:
      return joined(
          {fmt::format("{} {}", patient ? "This document is about" : "Patient:", fact.name()),
           prefixed("born", text_at(value, "birth_date")), text_at(value, "sex"),
           prefixed("number", text_at(value, "identifier"))},
          ", ");
    case FactType::Practitioner:
      return joined({fmt::format("Named in it: {}", fact.name()), text_at(value, "role")}, ", ");
    case FactType::Encounter:
      return joined({std::string(fact.name()), prefixed("from", text_at(value, "start")),
                     prefixed("to", text_at(value, "end"))},
                    ", ");
  }
  return {};
}

// What the confidence of a fact alone says; words of the page are routing's to weigh.
layout::clinical::RoutedFact routed(const Fact& fact) {
  const layout::clinical::RoutingRules rules;
  const auto enough =
      layout::clinical::is_critical(fact.type) ? rules.accept_min_critical : rules.accept_min;
  const auto route = fact.conf < rules.review_min ? layout::clinical::Route::reject
                     : fact.conf < enough         ? layout::clinical::Route::review
                                                  : layout::clinical::Route::accept;
  return {.fact = fact.id, .route = route, .score = fact.conf};
}

}  // namespace

layout::clinical::Narrative narrate(const layout::clinical::Extraction& extraction,
                                    std::string_view audience,
                                    const layout::clinical::PassLimits& limits) {
  std::vector<layout::clinical::RoutedFact> routes;
  for (const auto& fact : extraction.facts) routes.push_back(routed(fact));
  return narrate(extraction, routes, audience, limits);
}

layout::clinical::Narrative narrate(const layout::clinical::Extraction& extraction,
                                    std::span<const layout::clinical::RoutedFact> routes,
                                    std::string_view audience,
                                    const layout::clinical::PassLimits& limits) {
  const auto known = layout::clinical::audiences();
  layout::clinical::Narrative out;
  if (std::ranges::find(known, audience) != known.end()) out.audience = audience;
  const bool patient = out.audience == "patient";
  // People first, then what they have and take.
  static constexpr FactType kOrder[] = {
      FactType::Patient,     FactType::Practitioner,       FactType::Encounter,
      FactType::Condition,   FactType::AllergyIntolerance, FactType::MedicationStatement,
      FactType::Observation, FactType::Procedure,          FactType::Immunization};
  for (const auto type : kOrder) {
    for (std::size_t i = 0; i < extraction.facts.size(); ++i) {
      const auto& fact = extraction.facts[i];
      if (fact.type != type || routes[i].route == layout::clinical::Route::reject ||
          out.sentences.size() >= limits.items_max)
        continue;
      auto text = told(fact, patient);
      if (text.empty() || text.size() >= limits.text_bytes_max) continue;
      text += '.';
      out.sentences.push_back({.text = std::move(text), .facts = {fact.id}});
    }
  }
  return layout::clinical::complete_narrative(std::move(out), routes,
                                              layout::clinical::find_conflicts(extraction));
}

}  // namespace millrace::extract
