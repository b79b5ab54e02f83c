// Facts without quantities: allergies, conditions, procedures, immunizations.
#include "extract/facts.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace millrace::extract {

using layout::clinical::Category;
using layout::clinical::FactType;
using layout::clinical::Polarity;
using layout::clinical::Temporality;

namespace {

std::string_view severity_of(std::string_view fold) {
  if (one_of(fold,
             {"mild", "leicht", "leichte", "leichter", "leichtes", "leger", "legere", "leve"}))
    return "mild";
  if (one_of(fold, {"moderate", "mittel", "massig", "massige", "mittelschwer", "mittelgradig",
                    "modere", "moderee", "moderado", "moderada"}))
    return "moderate";
  if (one_of(fold,
             {"severe", "schwer", "schwere", "schwerer", "schweres", "grave", "severo", "severa"}))
    return "severe";
  return {};
}

std::string_view severity_in(const PageReading& page, TokenRange range) {
  for (auto at = range.first; at < range.end; ++at) {
    if (const auto severity = severity_of(page.tokens[at].fold); !severity.empty()) return severity;
  }
  return {};
}

bool is_none(std::string_view name) {
  return std::ranges::any_of(tokens_of(name), [](const Token& token) {
    return one_of(token.fold, {"allergy", "allergies", "nka", "nkda", "nkfa", "allergie",
                               "allergien", "alergia", "alergias", "unvertraglichkeit",
                               "unvertraglichkeiten", "intolerances", "intolerancias"});
  });
}

// "Antécédents : embolie pulmonaire en 2011": what is listed as the past with a year is over.
bool is_past_event(const Group& group, const Placed& head) {
  if (group.passage == nullptr) return false;
  const auto& tokens = group.page->tokens;
  const auto end = head.tokens.end;
  const bool dated = end + 1 < group.passage->tokens.end &&
                     (tokens[end].is("en") || tokens[end].is("in")) &&
                     tokens[end + 1].is_number() && tokens[end + 1].fold.size() == 4;
  if (!dated) return false;
  for (auto at = group.passage->tokens.first; at < head.tokens.first; ++at) {
    if (one_of(tokens[at].fold, {"antecedents", "antecedentes", "history", "vorgeschichte"}))
      return true;
  }
  return false;
}

}  // namespace

void FactWriter::write_allergies(const Group& group) {
  for (const auto& cluster : clusters_of(group, Category::allergen, {Category::reaction})) {
    auto fact = fact_of(FactType::AllergyIntolerance, group, *cluster.head);
    std::string reactions;
    for (const auto* part : cluster.parts) {
      if (!reactions.empty()) reactions += ", ";
      reactions += name_text(part->entity->text);
      rest_on(fact, *part);
    }
    if (!reactions.empty()) fact.value["reaction"] = reactions;
    const auto severity = severity_in(*group.page, cluster.tokens);
    if (!severity.empty()) fact.value["severity"] = severity;
    // "NKDA" has its negation in the word.
    if (is_none(cluster.head->entity->text)) fact.assertion.polarity = Polarity::negated;
    add(std::move(fact));
  }
}

void FactWriter::write_conditions(const Group& group) {
  for (const auto& cluster : clusters_of(group, Category::condition, {Category::date})) {
    auto fact = fact_of(FactType::Condition, group, *cluster.head);
    const auto first = cluster.head->tokens.first;
    if (group.passage != nullptr && first > group.passage->tokens.first) {
      const auto severity = severity_of(group.page->tokens[first - 1].fold);
      if (!severity.empty()) fact.value["severity"] = severity;
    }
    if (is_past_event(group, *cluster.head)) fact.assertion.temporality = Temporality::historical;
    // The first date behind a condition, unless that is where it ended.
    for (const auto* part : cluster.parts) {
      if (part->tokens.first < cluster.head->tokens.end) continue;
      const auto iso = iso_of(*part);
      if (iso.empty()) continue;
      fact.value["onset"] = iso;
      rest_on(fact, *part);
      break;
    }
    add(std::move(fact));
  }
}

void FactWriter::write_procedures(const Group& group) {
  for (const auto& cluster : clusters_of(group, Category::procedure, {Category::date})) {
    auto fact = fact_of(FactType::Procedure, group, *cluster.head);
    for (const auto* part : cluster.parts) {
      const auto iso = iso_of(*part);
      if (iso.empty()) continue;
      fact.value["date"] = iso;
      rest_on(fact, *part);
      break;
    }
    add(std::move(fact));
  }
}

void FactWriter::write_immunizations(const Group& group) {
  for (const auto& cluster :
       clusters_of(group, Category::immunization, {Category::date, Category::identifier})) {
    auto fact = fact_of(FactType::Immunization, group, *cluster.head);
    for (const auto* part : cluster.parts) {
      if (part->category() == Category::identifier) {
        if (!fact.value["lot"].is_null()) continue;
        fact.value["lot"] = part->entity->text;
        rest_on(fact, *part);
        continue;
      }
      const auto iso = iso_of(*part);
      if (iso.empty() || !fact.value["date"].is_null()) continue;
      fact.value["date"] = iso;
      rest_on(fact, *part);
    }
    add(std::move(fact));
  }
}

}  // namespace millrace::extract
