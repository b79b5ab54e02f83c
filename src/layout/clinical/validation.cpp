#include "layout/clinical/validation.h"

#include "layout/clinical/numbers.h"
#include "layout/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace millrace::layout::clinical {
namespace {

Finding finding(Severity severity, Rule rule, std::string path, std::string_view id) {
  return {.severity = severity, .rule = rule, .path = std::move(path), .id = std::string(id)};
}

// -- pass 3 --

void add_numbers(std::vector<Number>& out, std::string_view text) {
  const auto more = numbers_in(text, Spelled::counted);
  out.insert(out.end(), more.begin(), more.end());
}

void add_numbers(std::vector<Number>& out, const json::Value& value) {
  if (value.is_string()) {
    const std::string_view text = value.get_string();
    add_numbers(out, text);
    if (const auto times = times_a_day(text); times > 0) {
      out.push_back({.value = times, .other = times});
    }
  } else if (const auto number = to_number(value)) {
    out.push_back({.value = std::abs(*number), .other = std::abs(*number)});
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) add_numbers(out, member.value());
  }
}

std::vector<Number> numbers_of(const Fact& fact) {
  std::vector<Number> numbers;
  for (const auto& member : fact.value) add_numbers(numbers, member.value());
  return numbers;
}

using FactIndex = std::map<std::string_view, const Fact*>;

FactIndex index_of(const Extraction& extraction) {
  FactIndex index;
  for (const auto& fact : extraction.facts) index.emplace(fact.id, &fact);
  return index;
}

void check_sentence(const Sentence& sentence, const std::string& path, const FactIndex& facts,
                    std::vector<Finding>& out) {
  if (sentence.facts.empty()) {
    out.push_back(finding(Severity::reject, Rule::no_facts, path + ".facts", path));
    return;
  }
  std::vector<Number> known;
  for (const auto& id : sentence.facts) {
    const auto at = facts.find(id);
    if (at == facts.end()) {
      out.push_back(finding(Severity::reject, Rule::unknown_fact, path + ".facts", path));
      return;
    }
    const auto numbers = numbers_of(*at->second);
    known.insert(known.end(), numbers.begin(), numbers.end());
  }
  if (!all_occur(numbers_in(sentence.text), known)) {
    out.push_back(finding(Severity::reject, Rule::number_not_in_facts, path + ".text", path));
  }
}

}  // namespace

std::vector<Finding> validate_detection(const Detection& detection, const SpatialMap& map) {
  std::vector<Finding> out;
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < detection.entities.size(); ++i) {
    const auto& entity = detection.entities[i];
    const auto path = fmt::format("entities[{}]", i);
    if (!ids.insert(entity.id).second) {
      out.push_back(finding(Severity::reject, Rule::duplicate_id, path + ".id", entity.id));
    }
    const auto* page = map.page(entity.at.page);
    if (page == nullptr) {
      out.push_back(finding(Severity::reject, Rule::unknown_page, path + ".page", entity.id));
      continue;
    }
    const bool same_words = words_covering(*page, entity.at.bytes) == entity.at.words;
    if (!same_words || page->text_of(entity.at.bytes) != entity.text) {
      out.push_back(finding(Severity::reject, Rule::offsets_wrong, path + ".char", entity.id));
    }
  }
  for (std::size_t i = 0; i < detection.sections.size(); ++i) {
    const auto& section = detection.sections[i];
    const auto path = fmt::format("segments[{}]", i);
    if (!ids.insert(section.id).second) {
      out.push_back(finding(Severity::reject, Rule::duplicate_id, path + ".id", section.id));
    }
    const auto* page = map.page(section.page);
    if (page == nullptr) {
      out.push_back(finding(Severity::reject, Rule::unknown_page, path + ".page", section.id));
    } else if (section.words.last >= page->words.size()) {
      out.push_back(finding(Severity::reject, Rule::offsets_wrong, path + ".words", section.id));
    }
  }
  return out;
}

std::vector<Finding> validate_narrative(const Narrative& narrative, const Extraction& extraction,
                                        std::span<const std::string> uncertain) {
  std::vector<Finding> out;
  const auto facts = index_of(extraction);
  const std::set<std::string_view> said(narrative.uncertain.begin(), narrative.uncertain.end());
  const std::set<std::string_view> doubtful(uncertain.begin(), uncertain.end());
  std::set<std::string_view> reported;
  for (std::size_t i = 0; i < narrative.sentences.size(); ++i) {
    const auto& sentence = narrative.sentences[i];
    check_sentence(sentence, fmt::format("sentences[{}]", i), facts, out);
    for (const auto& id : sentence.facts) {
      if (!doubtful.contains(id) || said.contains(id) || !reported.insert(id).second) continue;
      out.push_back(finding(Severity::review, Rule::uncertain_not_said, "uncertain", id));
    }
  }
  for (std::size_t i = 0; i < narrative.uncertain.size(); ++i) {
    if (facts.contains(narrative.uncertain[i])) continue;
    out.push_back(finding(Severity::reject, Rule::unknown_fact, fmt::format("uncertain[{}]", i),
                          narrative.uncertain[i]));
  }
  for (std::size_t i = 0; i < narrative.conflicts.size(); ++i) {
    const auto& ids = narrative.conflicts[i].facts;
    const auto path = fmt::format("conflicts[{}]", i);
    if (std::set<std::string_view>(ids.begin(), ids.end()).size() < 2) {
      out.push_back(finding(Severity::reject, Rule::conflict_too_small, path + ".facts", path));
    }
    if (std::ranges::any_of(ids, [&](const auto& id) { return !facts.contains(id); })) {
      out.push_back(finding(Severity::reject, Rule::unknown_fact, path + ".facts", path));
    }
  }
  return out;
}

Extraction without_rejected(Extraction extraction, std::span<const Finding> findings) {
  std::set<std::string_view> bad;
  for (const auto& item : findings) {
    if (item.severity == Severity::reject) bad.insert(item.id);
  }
  std::erase_if(extraction.facts, [&](const Fact& fact) { return bad.contains(fact.id); });
  const auto facts = index_of(extraction);
  std::erase_if(extraction.relations, [&](const Relation& relation) {
    return !facts.contains(relation.from) || !facts.contains(relation.to);
  });
  return extraction;
}

Narrative without_rejected(Narrative narrative, std::span<const Finding> findings) {
  std::set<std::string_view> bad;
  for (const auto& item : findings) {
    if (item.severity == Severity::reject) bad.insert(item.id);
  }
  // Sentences and conflicts have no ids: findings name them by their place.
  const auto keep = [&](auto& list, std::string_view name) {
    std::size_t at = 0;
    std::erase_if(list,
                  [&](const auto&) { return bad.contains(fmt::format("{}[{}]", name, at++)); });
  };
  keep(narrative.sentences, "sentences");
  keep(narrative.conflicts, "conflicts");
  std::erase_if(narrative.uncertain, [&](const auto& id) { return bad.contains(id); });
  return narrative;
}

}  // namespace millrace::layout::clinical
