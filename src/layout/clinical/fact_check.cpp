// validate_extraction: facts against their evidence.
#include "layout/clinical/assertion_cues.h"
#include "layout/clinical/clinical_date.h"
#include "layout/clinical/numbers.h"
#include "layout/clinical/ucum.h"
#include "layout/clinical/validation.h"
#include "layout/json_fields.h"
#include "layout/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace millrace::layout::clinical {
namespace {

// What the evidence of one fact says.
struct Grounds {
  std::vector<const Entity*> entities = {};
  std::string text = {};   // Of the entities.
  std::string lines = {};  // Of the lines that they stand on.
};

bool takes_cues(FactType type) {
  switch (type) {
    case FactType::MedicationStatement:
    case FactType::Condition:
    case FactType::AllergyIntolerance:
    case FactType::Immunization:
    case FactType::Procedure:
      return true;
    case FactType::Observation:  // "negative" is a result.
    case FactType::Patient:
    case FactType::Practitioner:
    case FactType::Encounter:
      return false;
  }
  return false;
}

const json::Value& part_of(const json::Value& value, std::string_view name) {
  static const json::Value kNothing;
  const auto* object = value.if_object();
  const auto* part = object == nullptr ? nullptr : object->if_contains(name);
  return part == nullptr ? kNothing : *part;
}

std::string_view text_of(const json::Value& value) {
  return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

class FactChecker {
 public:
  FactChecker(const Detection& detection, const SpatialMap& map) : map_(map) {
    for (const auto& entity : detection.entities) entities_.emplace(entity.id, &entity);
    for (const auto& section : detection.sections) {
      if (section.kind == "family_history") family_.push_back(&section);
    }
  }

  void check(const Fact& fact, std::string path) {
    path_ = std::move(path);
    id_ = fact.id;
    if (!ids_.insert(fact.id).second) add(Severity::reject, Rule::duplicate_id, ".id");
    if (fact.evidence.empty()) {
      add(Severity::reject, Rule::no_evidence, ".evidence");
      return;
    }
    Grounds grounds;
    std::set<std::string_view> seen;
    for (const auto& id : fact.evidence) {
      const auto at = entities_.find(id);
      if (at == entities_.end()) {
        add(Severity::reject, Rule::unknown_entity, ".evidence");
        return;
      }
      if (seen.insert(id).second) grounds.entities.push_back(at->second);
    }
    check_doubts(grounds);
    read(grounds);
    check_name(fact, grounds);
    for (const auto& rule : fields_of(fact.type)) check_field(fact, rule, grounds);
    check_assertion(fact, grounds);
  }

  std::vector<Finding> take() { return std::move(out_); }

 private:
  void add(Severity severity, Rule rule, std::string_view where) {
    out_.push_back(
        {.severity = severity, .rule = rule, .path = fmt::format("{}{}", path_, where), .id = id_});
  }

  // What an entity is doubted for, the facts that rest on it are too.
  void check_doubts(const Grounds& grounds) {
    std::set<Rule> doubts;
    for (const auto* entity : grounds.entities) {
      doubts.insert(entity->doubts.begin(), entity->doubts.end());
    }
    for (const auto rule : doubts) add(Severity::review, rule, ".evidence");
  }

  void read(Grounds& grounds) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> lines;
    for (const auto* entity : grounds.entities) {
      grounds.text += entity->text;
      grounds.text += "\n\n";
      const auto* page = map_.page(entity->at.page);
      if (page == nullptr || entity->at.words.last >= page->words.size()) continue;
      const auto last = page->words[entity->at.words.last].line;
      for (auto line = page->words[entity->at.words.first].line; line <= last; ++line) {
        if (!lines.emplace(entity->at.page, line).second) continue;
        grounds.lines += page->text_of(page->lines[line].words);
        grounds.lines += "\n\n";
      }
    }
  }

  // A name that differs by a letter may be another drug.
  void check_name(const Fact& fact, const Grounds& grounds) {
    const QuoteFinder finder(grounds.text, {.errors_share = 0});
    if (finder.find(fact.name())) return;
    add(Severity::review, Rule::name_not_in_evidence,
        fmt::format(".value.{}", fields_of(fact.type).front().name));
  }

  void check_field(const Fact& fact, const FieldRule& rule, const Grounds& grounds) {
    const auto* value = fact.value.if_contains(rule.name);
    if (value == nullptr || value->is_null()) return;
    const auto where = fmt::format(".value.{}", rule.name);
    switch (rule.kind) {
      case FieldKind::quantity:
        check_number(part_of(*value, "value"), where, grounds);
        check_unit(part_of(*value, "unit"), where + ".unit");
        return;
      case FieldKind::range:
        check_range(*value, where, grounds);
        return;
      case FieldKind::date:
        check_date(text_of(*value), where, grounds);
        return;
      case FieldKind::text:
        check_text(text_of(*value), where, grounds);
        return;
      case FieldKind::choice:
        return;
    }
  }

  void check_number(const json::Value& value, const std::string& where, const Grounds& grounds) {
    const auto number = to_number(value);
    if (!number) return;
    const std::vector<Number> needed = {{.value = std::abs(*number), .other = std::abs(*number)}};
    if (all_occur(needed, numbers_in(grounds.text, Spelled::counted))) return;
    const bool beside = all_occur(needed, numbers_in(grounds.lines, Spelled::counted));
    add(beside ? Severity::review : Severity::reject, Rule::number_not_in_evidence, where);
  }

  void check_range(const json::Value& range, const std::string& where, const Grounds& grounds) {
    const auto& low = part_of(range, "low");
    const auto& high = part_of(range, "high");
    check_number(low, where + ".low", grounds);
    check_number(high, where + ".high", grounds);
    const auto from = to_number(low);
    const auto to = to_number(high);
    if (from && to && *from > *to) add(Severity::review, Rule::range_inverted, where);
  }

  void check_unit(const json::Value& unit, const std::string& where) {
    if (!unit.is_string()) return;
    if (!to_ucum(unit.get_string())) add(Severity::review, Rule::unit_unknown, where);
  }

  void check_date(std::string_view text, const std::string& where, const Grounds& grounds) {
    const auto date = parse_clinical_date(text);
    if (!date) {
      add(Severity::review, Rule::date_form, where);
    } else if (!date_occurs(*date, grounds.text) && !date_occurs(*date, grounds.lines)) {
      add(Severity::review, Rule::date_not_in_evidence, where);
    }
  }

  void check_text(std::string_view text, const std::string& where, const Grounds& grounds) {
    const auto needed = numbers_in(text);
    if (needed.empty() || all_occur(needed, numbers_in(grounds.lines, Spelled::counted))) return;
    add(Severity::review, Rule::number_not_in_evidence, where);
  }

  void check_assertion(const Fact& fact, const Grounds& grounds) {
    if (!takes_cues(fact.type)) return;
    Cues cues;
    for (const auto* entity : grounds.entities) {
      const auto* page = map_.page(entity->at.page);
      if (page == nullptr) continue;
      const auto found = cues_around(page->text, entity->at.bytes);
      cues.negated |= found.negated;
      const bool given = fact.type == FactType::MedicationStatement;
      cues.hypothetical |= found.hypothetical || (found.purpose && !given);
      cues.family |= found.family || in_family_history(*entity);
    }
    const auto& assertion = fact.assertion;
    if (cues.negated && assertion.polarity == Polarity::affirmed) {
      add(Severity::review, Rule::negation_ignored, ".assertion.polarity");
    }
    if (cues.family && fact.subject == Subject::patient) {
      add(Severity::review, Rule::family_ignored, ".subject");
    }
    const bool supposed = assertion.temporality == Temporality::hypothetical ||
                          assertion.certainty != Certainty::definite;
    if (cues.hypothetical && !supposed && assertion.polarity == Polarity::affirmed) {
      add(Severity::review, Rule::hypothesis_ignored, ".assertion.temporality");
    }
  }

  bool in_family_history(const Entity& entity) const {
    return std::ranges::any_of(family_, [&](const Section* section) {
      return section->page == entity.at.page && section->words.first <= entity.at.words.first &&
             entity.at.words.last <= section->words.last;
    });
  }

  const SpatialMap& map_;
  std::map<std::string_view, const Entity*> entities_;
  std::vector<const Section*> family_;
  std::set<std::string_view> ids_;
  std::vector<Finding> out_;
  std::string path_;
  std::string id_;
};

}  // namespace

std::vector<Finding> validate_extraction(const Extraction& extraction, const Detection& detection,
                                         const SpatialMap& map) {
  FactChecker checker(detection, map);
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < extraction.facts.size(); ++i) {
    checker.check(extraction.facts[i], fmt::format("facts[{}]", i));
    ids.insert(extraction.facts[i].id);
  }
  auto out = checker.take();
  for (std::size_t i = 0; i < extraction.relations.size(); ++i) {
    const auto& relation = extraction.relations[i];
    if (ids.contains(relation.from) && ids.contains(relation.to)) continue;
    const auto path = fmt::format("relations[{}]", i);
    out.push_back(
        {.severity = Severity::reject, .rule = Rule::unknown_fact, .path = path, .id = path});
  }
  return out;
}

}  // namespace millrace::layout::clinical
