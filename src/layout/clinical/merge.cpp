#include "layout/clinical/merge.h"

#include "layout/clinical/ucum.h"
#include "layout/folded_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace millrace::layout::clinical {
namespace {

// -- detections --

// By place; the rest of the key makes the order of equals the same every time.
auto place_of(const Entity& entity) {
  return std::tuple(entity.at.page, entity.at.bytes.begin, entity.at.bytes.end, entity.category,
                    -entity.conf, std::string_view(entity.id));
}

bool mostly_same(const Entity& a, const Entity& b) {
  if (a.category != b.category || a.at.page != b.at.page) return false;
  const auto begin = std::max(a.at.bytes.begin, b.at.bytes.begin);
  const auto end = std::min(a.at.bytes.end, b.at.bytes.end);
  if (begin >= end) return false;
  return 2 * (end - begin) >= std::max(a.at.bytes.size(), b.at.bytes.size());
}

bool is_better(const Entity& a, const Entity& b) {
  return a.conf != b.conf ? a.conf > b.conf : a.at.bytes.size() > b.at.bytes.size();
}

std::vector<Entity> merge_entities(std::vector<Entity> all) {
  std::ranges::sort(all, {}, place_of);
  std::vector<Entity> out;
  for (auto& entity : all) {
    // What overlaps lies among the last few: places are in order.
    const auto reach = std::min<std::size_t>(out.size(), 16);
    const auto same = std::find_if(out.rbegin(), out.rbegin() + static_cast<std::ptrdiff_t>(reach),
                                   [&](const Entity& other) { return mostly_same(other, entity); });
    if (same == out.rbegin() + static_cast<std::ptrdiff_t>(reach)) {
      out.push_back(std::move(entity));
    } else if (is_better(entity, *same)) {
      *same = std::move(entity);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].id = fmt::format("e{}", i + 1);
  return out;
}

std::vector<Section> merge_sections(std::vector<Section> all) {
  std::ranges::sort(all, {}, [](const Section& section) {
    return std::tuple(section.page, section.words.first, section.words.last,
                      std::string_view(section.kind), -section.conf, std::string_view(section.id));
  });
  std::vector<Section> out;
  for (auto& section : all) {
    // Parts of one section, or the same one twice.
    const bool joins = !out.empty() && out.back().page == section.page &&
                       out.back().kind == section.kind &&
                       section.words.first <= out.back().words.last + 1;
    if (!joins) {
      out.push_back(std::move(section));
      continue;
    }
    out.back().words.last = std::max(out.back().words.last, section.words.last);
    out.back().conf = std::max(out.back().conf, section.conf);
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].id = fmt::format("s{}", i + 1);
  return out;
}

// The value with most confidence behind it, the first of equals.
template <class Parts, class Value>
std::string most_said(const Parts& parts, Value value) {
  std::map<std::string, double> votes;
  std::string best;
  for (const auto& part : parts) {
    const auto [name, weight] = value(part);
    if (!name.empty()) votes[name] += weight;
  }
  for (const auto& part : parts) {
    const auto [name, weight] = value(part);
    if (!name.empty() && (best.empty() || votes[name] > votes[best])) best = name;
  }
  return best;
}

// Lists are compared with a bounded number of others, so that hostile ones cost no square.
constexpr std::size_t kNeighbours = 64;

template <class T>
std::span<const T> last_of(const std::vector<T>& list) {
  const std::span<const T> all(list);
  return all.last(std::min(all.size(), kNeighbours));
}

std::string key_of(const std::vector<std::string>& ids, std::string_view text) {
  std::string key;
  for (const auto& id : ids) key += id + ' ';
  return key.append(text);
}

// -- extractions --

// What two facts must share to be about the same thing.
using Theme = std::tuple<FactType, Subject, Temporality, std::string>;

Theme theme_of(const Fact& fact) {
  return {fact.type, fact.subject, fact.assertion.temporality, folded_utf8(fact.name())};
}

// The name is compared as it is folded, everything else as it is.
bool contradict(const Fact& a, const Fact& b) {
  const auto rules = fields_of(a.type);
  for (const auto& rule : rules.subspan(1)) {
    const auto* x = a.value.if_contains(rule.name);
    const auto* y = b.value.if_contains(rule.name);
    if (x == nullptr || y == nullptr || x->is_null() || y->is_null()) continue;
    if (*x != *y) return true;
  }
  return false;
}

bool says_more(const Fact& a, const Fact& b) {
  const auto rules = fields_of(a.type);
  return std::ranges::any_of(rules, [&](const FieldRule& rule) {
    const auto* x = a.value.if_contains(rule.name);
    const auto* y = b.value.if_contains(rule.name);
    return x != nullptr && !x->is_null() && (y == nullptr || y->is_null());
  });
}

bool share_evidence(const Fact& a, const Fact& b) {
  return std::ranges::any_of(a.evidence, [&](const std::string& id) {
    return std::ranges::find(b.evidence, id) != b.evidence.end();
  });
}

bool are_one(const Fact& a, const Fact& b) {
  if (a.assertion != b.assertion || contradict(a, b)) return false;
  return share_evidence(a, b) || (!says_more(a, b) && !says_more(b, a));
}

void take_over(Fact& into, Fact&& from) {
  for (auto& member : from.value) {
    auto& mine = into.value[member.key()];
    if (mine.is_null()) mine = std::move(member.value());
  }
  for (auto& id : from.evidence) {
    if (std::ranges::find(into.evidence, id) == into.evidence.end()) {
      into.evidence.push_back(std::move(id));
    }
  }
  for (auto& code : from.codes) {
    if (std::ranges::find(into.codes, code) == into.codes.end()) {
      into.codes.push_back(std::move(code));
    }
  }
  // Parts overlap, so they are no independent witnesses.
  into.conf = std::max(into.conf, from.conf);
}

class FactMerger {
 public:
  void add(Extraction part) {
    std::map<std::string, std::size_t> where;  // Ids of the part.
    for (std::size_t i = 0; i < part.facts.size(); ++i) {
      auto& fact = part.facts[i];
      auto id = fact.id;
      const auto at = place(std::move(fact));
      origins_[at].push_back({.part = parts_, .fact = i});
      where.emplace(std::move(id), at);
    }
    ++parts_;
    for (auto& relation : part.relations) {
      const auto from = where.find(relation.from);
      const auto to = where.find(relation.to);
      if (from == where.end() || to == where.end() || from->second == to->second) continue;
      relations_.emplace(from->second, to->second, std::move(relation.type));
    }
    for (auto& item : part.rejected) {
      if (seen_.insert(key_of(item.evidence, item.why)).second) {
        rejected_.push_back(std::move(item));
      }
    }
  }

  MergedExtraction finish() {
    Extraction out{.facts = std::move(facts_), .rejected = std::move(rejected_)};
    for (std::size_t i = 0; i < out.facts.size(); ++i) out.facts[i].id = fmt::format("f{}", i + 1);
    for (const auto& [from, to, type] : relations_) {
      out.relations.push_back({.from = out.facts[from].id, .to = out.facts[to].id, .type = type});
    }
    return {.extraction = std::move(out), .origins = std::move(origins_)};
  }

 private:
  std::size_t place(Fact fact) {
    auto& group = groups_[theme_of(fact)];
    for (const auto at : last_of(group)) {
      if (!are_one(facts_[at], fact)) continue;
      take_over(facts_[at], std::move(fact));
      return at;
    }
    group.push_back(facts_.size());
    facts_.push_back(std::move(fact));
    origins_.emplace_back();
    return facts_.size() - 1;
  }

  std::size_t parts_ = 0;
  std::vector<Fact> facts_;
  std::vector<std::vector<FactOrigin>> origins_;  // Of facts_.
  std::map<Theme, std::vector<std::size_t>> groups_;
  std::set<std::tuple<std::size_t, std::size_t, std::string>> relations_;
  std::vector<Rejected> rejected_;
  std::set<std::string> seen_;  // Of rejected_.
};

// -- conflicts --

// The first field that both have and that cannot have two values.
std::string_view disputed_field(const Fact& a, const Fact& b) {
  for (const auto& rule : fields_of(a.type)) {
    if (!rule.contradicts) continue;
    const auto* x = a.value.if_contains(rule.name);
    const auto* y = b.value.if_contains(rule.name);
    if (x == nullptr || y == nullptr || x->is_null() || y->is_null()) continue;
    if (*x != *y) return rule.name;
  }
  return {};
}

std::string conflict_note(const Fact& a, const Fact& b) {
  if (a.assertion.polarity != b.assertion.polarity) return "affirmed and negated";
  const auto field = disputed_field(a, b);
  return field.empty() ? std::string() : fmt::format("different {}", field);
}

}  // namespace

Detection merge_detections(std::vector<Detection> parts) {
  Detection out;
  out.document_type.value = most_said(parts, [](const Detection& part) {
    return std::pair(part.document_type.value, part.document_type.conf);
  });
  if (out.document_type.value.empty()) out.document_type.value = "other";
  out.language = most_said(parts, [](const Detection& part) {
    return std::pair(part.language, static_cast<double>(part.entities.size() + 1));
  });
  std::vector<Entity> entities;
  std::vector<Section> sections;
  for (auto& part : parts) {
    if (part.document_type.value == out.document_type.value) {
      out.document_type.conf = std::max(out.document_type.conf, part.document_type.conf);
    }
    std::ranges::move(part.entities, std::back_inserter(entities));
    std::ranges::move(part.sections, std::back_inserter(sections));
    for (const auto& area : part.illegible) {
      if (std::ranges::find(out.illegible, area) == out.illegible.end()) {
        out.illegible.push_back(area);
      }
    }
  }
  out.entities = merge_entities(std::move(entities));
  out.sections = merge_sections(std::move(sections));
  return out;
}

Extraction merge_extractions(std::vector<Extraction> parts) {
  return merge_with_origins(std::move(parts)).extraction;
}

MergedExtraction merge_with_origins(std::vector<Extraction> parts) {
  FactMerger merger;
  for (auto& part : parts) merger.add(std::move(part));
  return merger.finish();
}

Narrative merge_narratives(std::vector<Narrative> parts) {
  Narrative out;
  if (!parts.empty()) out.audience = parts.front().audience;
  std::set<std::string> sentences;
  std::set<std::string> uncertain;
  std::set<std::string> conflicts;
  for (auto& part : parts) {
    for (auto& item : part.sentences) {
      if (!sentences.insert(key_of(item.facts, item.text)).second) continue;
      out.sentences.push_back(std::move(item));
    }
    for (auto& item : part.uncertain) {
      if (uncertain.insert(item).second) out.uncertain.push_back(std::move(item));
    }
    for (auto& item : part.conflicts) {
      if (!conflicts.insert(key_of(item.facts, item.note)).second) continue;
      out.conflicts.push_back(std::move(item));
    }
  }
  return out;
}

std::vector<Conflict> find_conflicts(const Extraction& extraction) {
  std::map<Theme, std::vector<const Fact*>> groups;
  for (const auto& fact : extraction.facts) groups[theme_of(fact)].push_back(&fact);
  std::vector<Conflict> out;
  for (const auto& [theme, facts] : groups) {
    // Each against the first that it disagrees with: pairs of pairs would say the same again.
    for (std::size_t i = 1; i < facts.size(); ++i) {
      for (std::size_t j = 0; j < std::min(i, kNeighbours); ++j) {
        auto note = conflict_note(*facts[j], *facts[i]);
        if (note.empty()) continue;
        out.push_back({.facts = {facts[j]->id, facts[i]->id}, .note = std::move(note)});
        break;
      }
    }
  }
  return out;
}

void normalise_units(Extraction& extraction) {
  for (auto& fact : extraction.facts) {
    for (auto& member : fact.value) {
      auto* object = member.value().if_object();
      auto* unit = object == nullptr ? nullptr : object->if_contains("unit");
      if (unit == nullptr || !unit->is_string()) continue;
      if (auto code = to_ucum(unit->get_string())) *unit = *code;
    }
  }
}

}  // namespace millrace::layout::clinical
