#include "extract/facts.h"

#include "extract/assertion.h"
#include "extract/measured.h"
#include "layout/clinical/fact_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::extract {

using layout::clinical::Category;
using layout::clinical::Fact;
using layout::clinical::FactType;

namespace {

// Beside a mention, and no part of what is said about it.
bool is_neutral(Category category) {
  return category == Category::frequency || category == Category::duration ||
         category == Category::dose || category == Category::route || category == Category::date;
}

Mentioned mentioned_by(FactType type) {
  if (type == FactType::MedicationStatement) return Mentioned::medicine;
  return type == FactType::AllergyIntolerance ? Mentioned::allergy : Mentioned::other;
}

}  // namespace

std::string name_text(std::string_view text) {
  constexpr std::string_view kSoftHyphen = "\u00ad";
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kSoftHyphen)) {
      at += kSoftHyphen.size() - 1;
      if (at + 1 < text.size() && text[at + 1] == '\n') ++at;
      continue;
    }
    if (text[at] != '\n') {
      out += text[at];
      continue;
    }
    // "hyper-\ntension" was one word.
    const bool small = at + 1 < text.size() && text[at + 1] >= 'a' && text[at + 1] <= 'z';
    if (out.ends_with('-') && small) {
      out.pop_back();
    } else if (!out.ends_with(' ')) {
      out += ' ';
    }
  }
  return out;
}

Fact FactWriter::fact_of(FactType type, const Group& group, const Placed& head) const {
  Fact fact{.type = type, .conf = head.entity->conf};
  const auto rules = layout::clinical::fields_of(type);
  for (const auto& rule : rules) fact.value[rule.name] = nullptr;
  fact.value[rules.front().name] = name_text(head.entity->text);
  rest_on(fact, head);
  judge_fact(fact, group, head);
  return fact;
}

void FactWriter::judge_fact(Fact& fact, const Group& group, const Placed& head) const {
  if (group.passage == nullptr) return;
  switch (fact.type) {
    case FactType::MedicationStatement:
    case FactType::Condition:
    case FactType::AllergyIntolerance:
    case FactType::Procedure:
    case FactType::Immunization:
      break;
    case FactType::Observation: {
      const auto judged = judge_result(group, head);
      fact.subject = judged.subject;
      fact.assertion = judged.assertion;
      if (judged.doubtful) fact.conf = std::min(fact.conf, kDoubtful);
      return;
    }
    case FactType::Patient:
    case FactType::Practitioner:
    case FactType::Encounter:
      return;  // Nobody is denied.
  }
  std::vector<TokenRange> others;
  std::vector<TokenRange> neutral;
  for (const auto& placed : group.entities) {
    if (placed.category() == head.category()) others.push_back(placed.tokens);
    if (is_neutral(placed.category())) neutral.push_back(placed.tokens);
  }
  const bool historical = group.page->section_of(*group.passage).historical;
  const auto judged = judge(*group.page, *group.passage, head.tokens,
                            {.others = others,
                             .neutral = neutral,
                             .mentioned = mentioned_by(fact.type),
                             .family = group.section == "family_history",
                             .historical = historical});
  fact.subject = judged.subject;
  fact.assertion = judged.assertion;
  // "Suspected embolism, CT is planned": nobody plans a disease.
  auto& when = fact.assertion.temporality;
  if (fact.type == FactType::Condition && when == layout::clinical::Temporality::future)
    when = layout::clinical::Temporality::current;
  if (judged.doubtful) fact.conf = std::min(fact.conf, kDoubtful);
  // "Gastroscopy ruled out an ulcer": what was found absent is not the examination.
  if (fact.type == FactType::Procedure && judged.denied_behind) {
    fact.assertion.polarity = layout::clinical::Polarity::affirmed;
  }
}

void FactWriter::rest_on(Fact& fact, const Placed& placed) {
  const auto& id = placed.entity->id;
  if (std::ranges::find(fact.evidence, id) != fact.evidence.end()) return;
  fact.evidence.push_back(id);
  fact.conf = std::min(fact.conf, placed.entity->conf);
}

void FactWriter::add(Fact fact) {
  if (out_.facts.size() >= limits_.items_max || fact.evidence.size() > limits_.references_max)
    return;
  fact.id = fmt::format("f{}", out_.facts.size() + 1);
  out_.facts.push_back(std::move(fact));
}

std::string FactWriter::iso_of(const Placed& placed) const {
  const auto date = event_date(placed.entity->text, manner_.order, written_);
  return date ? date->iso() : std::string();
}

bool FactWriter::set_quantity(json::Object& value, std::string_view field,
                              const Placed& placed) const {
  const auto tokens = tokens_of(std::string_view(placed.entity->text));
  // "1:160", "2+" and "5-10 /hpf" are results as they are written.
  if (field == "value") {
    const auto range = read_range(tokens, 0, placed.entity->text, manner_.decimal);
    const bool both = range.low && range.high && range.tokens == tokens.size();
    if (both || read_grade(tokens, 0) == tokens.size()) return false;
  }
  const auto quantity = field == "dose"
                            ? read_dose(tokens, 0, placed.entity->text, manner_.decimal)
                            : read_quantity(tokens, 0, placed.entity->text, manner_.decimal);
  // A number with letters for figures is for a person to read.
  if (quantity.tokens == 0 || quantity.misread) return false;
  json::Value unit = nullptr;
  if (!quantity.unit.code.empty()) unit = quantity.unit.code;
  value[field] = json::Object{{"value", quantity.value}, {"unit", unit}};
  if (field == "value" && !quantity.comparator.empty()) value["comparator"] = quantity.comparator;
  return true;
}

bool FactWriter::set_range(json::Object& value, const Placed& placed) const {
  const auto tokens = tokens_of(std::string_view(placed.entity->text));
  const auto range = read_range(tokens, 0, placed.entity->text, manner_.decimal);
  if (range.tokens == 0) return false;
  json::Object out{{"low", nullptr}, {"high", nullptr}};
  if (range.low) out["low"] = *range.low;
  if (range.high) out["high"] = *range.high;
  value["range"] = std::move(out);
  return true;
}

void FactWriter::write(const Group& group) {
  write_medications(group);
  write_observations(group);
  write_vitals(group);
  write_allergies(group);
  write_conditions(group);
  write_procedures(group);
  write_immunizations(group);
}

}  // namespace millrace::extract
