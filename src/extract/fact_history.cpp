// Facts without quantities: allergies, conditions, procedures, immunizations.
#include "extract/denial.h"
#include "extract/facts.h"
#include "extract/terms.h"

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

// What words of denied allergies stand with.
bool stands_beside_none(std::string_view fold) {
  return one_of(fold, {"known",
                       "other",
                       "any",
                       "documented",
                       "reported",
                       "recorded",
                       "relevant",
                       "no",
                       "drug",
                       "medication",
                       "medications",
                       "drugs",
                       "food",
                       "foods",
                       "environmental",
                       "latex",
                       "anything",
                       "bekannt",
                       "bekannte",
                       "bekannten",
                       "keine",
                       "medikamente",
                       "medikamenten",
                       "arzneimittel",
                       "connue",
                       "connues",
                       "aucune",
                       "medicamenteuse",
                       "medicamenteuses",
                       "alimentaire",
                       "alimentaires",
                       "medicaments",
                       "aliments",
                       "conocida",
                       "conocidas",
                       "sin",
                       "medicamentosa",
                       "medicamentosas",
                       "alimentaria",
                       "alimentarias",
                       "medicamentos",
                       "alimentos",
                       "to",
                       "gegen",
                       "aux",
                       "a",
                       "or",
                       "and",
                       "oder",
                       "und",
                       "ou",
                       "et",
                       "o",
                       "y"});
}

// Allergies to nothing in particular, as they are marked where they are denied. "Penicillin
// allergy", as a model may mark it, is one to something.
bool is_general(std::string_view name) {
  bool allergy = false;
  for (const auto& token : tokens_of(name)) {
    if (!token.is_word()) continue;
    const bool word = one_of(token.fold, {"allergy", "allergies", "nka", "nkda", "nkfa", "allergie",
                                          "allergien", "alergia", "alergias", "unvertraglichkeit",
                                          "unvertraglichkeiten", "intolerances", "intolerancias"});
    if (!word && !stands_beside_none(token.fold)) return false;
    allergy |= word;
  }
  return allergy;
}

// "None known", "keine", "NKDA": the words themselves deny. "Not recorded" says nothing, and "PAS"
// is a medicine.
bool denies_itself(std::string_view name) {
  const auto tokens = tokens_of(name);
  if (tokens.empty() || one_of(tokens.front().fold, {"not", "nicht"})) return false;
  return says_none(tokens.front().fold) && (tokens.size() > 1 || !tokens.front().is("pas"));
}

// "Multiple drug allergies", as a model may mark them, are denied by nothing.
bool is_denied_before(const Group& group, const Placed& head) {
  return group.passage != nullptr &&
         denies_allergy(group.page->tokens, group.passage->tokens.first, head.tokens.first);
}

// "No known latex allergies": denied of that only, which stands before the mark. Empty: of all.
std::string with_substance(const Group& group, const Placed& head) {
  const auto at = head.tokens.first;
  if (group.passage == nullptr || at <= group.passage->tokens.first) return {};
  const auto& before = group.page->tokens[at - 1];
  const bool named =
      Terms::get().has(before.key, Is::allergen) || Terms::get().has(before.key, Is::drug);
  // A word that nobody knows names something, too: "no quarzelin allergy".
  const bool unknown = !Terms::get().has(before.key, Is::common) &&
                       !Terms::get().has(before.key, Is::negated_before) &&
                       !stands_beside_none(before.fold) && !says_none(before.fold);
  if (!before.is_word() || !(named || unknown)) return {};
  return name_text(group.page->text_of({.first = at - 1, .end = head.tokens.end}));
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

// "Asthma, appendectomy 1998": the year is of what it stands right behind.
bool is_year_of_another(const Group& group, const Placed& head, const Placed& date) {
  const bool year = date.tokens.size() == 1 && date.entity->text.size() == 4;
  return year && std::ranges::any_of(group.entities, [&](const Placed& other) {
           return other.tokens.end == date.tokens.first &&
                  other.tokens.first != head.tokens.first &&
                  (other.category() == Category::condition ||
                   other.category() == Category::procedure);
         });
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
    const auto& text = cluster.head->entity->text;
    const bool general = is_general(text);
    if (denies_itself(text) || (general && is_denied_before(group, *cluster.head)))
      fact.assertion.polarity = Polarity::negated;
    if (const auto named = general ? with_substance(group, *cluster.head) : std::string();
        !named.empty()) {
      fact.value["substance"] = named;
    }
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
      if (is_year_of_another(group, *cluster.head, *part)) break;
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
      if (is_year_of_another(group, *cluster.head, *part)) continue;
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
