// Facts with quantities: medicines, laboratory values, vital signs.
#include "extract/facts.h"
#include "extract/terms.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

namespace millrace::extract {

using layout::clinical::Category;
using layout::clinical::Fact;
using layout::clinical::FactType;

namespace {

bool begins(std::string_view fold) {
  return one_of(fold, {"since", "started", "start", "from", "seit", "ab", "beginn", "depuis",
                       "debut", "desde", "inicio", "commenced", "begonnen", "debute"});
}

bool ends(std::string_view fold) {
  return one_of(
      fold, {"stopped",   "until", "discontinued", "ended",    "till",   "bis",        "abgesetzt",
             "beendet",   "jusqu", "arrete",       "arret",    "fin",    "hasta",      "suspendido",
             "suspendio", "ende",  "stop",         "gestoppt", "retiro", "suspendida", "arretee"});
}

// Whether a medicine came to an end or began on a date, by the words before the date.
std::string_view date_field(const Group& group, const Placed& date) {
  const auto& tokens = group.page->tokens;
  const auto lowest = group.passage == nullptr ? date.tokens.first : group.passage->tokens.first;
  for (auto at = date.tokens.first; at > lowest && date.tokens.first - at < 5; --at) {
    const auto& fold = tokens[at - 1].fold;
    if (ends(fold)) return "end";
    if (begins(fold)) return "start";
  }
  return {};
}

bool is_count(const Placed& dose) {
  const auto tokens = tokens_of(std::string_view(dose.entity->text));
  return read_quantity(tokens, 0, dose.entity->text, Decimal::point).unit.kind == UnitClass::count;
}

bool leads_from(std::string_view fold) {
  return one_of(fold, {"from", "von", "vom", "de", "desde", "statt"});
}

bool leads_to(std::string_view fold) { return one_of(fold, {"to", "auf", "a", "au", "hasta"}); }

std::string_view word_before(const Group& group, std::size_t token) {
  const bool inside = group.passage != nullptr && token > group.passage->tokens.first;
  return inside ? std::string_view(group.page->tokens[token - 1].fold) : std::string_view();
}

// "20 mg, max 80 mg per day": no dose but its limit.
bool is_limit(const Group& group, std::size_t token) {
  for (std::size_t back = 0; back < 3; ++back) {
    if (token < back) return false;
    if (one_of(word_before(group, token - back),
               {"max", "maximum", "maximal", "exceed", "hochstens", "maximale", "maximo", "maxima",
                "total", "insgesamt"}))
      return true;
  }
  return false;
}

bool says_change(const Group& group, TokenRange range) {
  for (auto at = range.first; at < range.end; ++at) {
    if (Terms::get().has(group.page->tokens[at].key, Is::change)) return true;
  }
  return false;
}

// Which of the doses of one medicine is the one that is taken, and whether that is a guess.
struct Dose {
  const Placed* placed = nullptr;
  bool doubtful = false;
};

Dose dose_of(const Group& group, const Cluster& cluster, Decimal decimal) {
  struct Strength {
    const Placed* placed = nullptr;
    Quantity quantity = {};
  };
  std::vector<Strength> strengths;
  const Placed* first = nullptr;
  for (const auto* part : cluster.parts) {
    if (part->category() != Category::dose) continue;
    if (first == nullptr) first = part;
    const auto tokens = tokens_of(std::string_view(part->entity->text));
    auto quantity = read_quantity(tokens, 0, part->entity->text, decimal);
    const bool strength =
        quantity.unit.kind == UnitClass::mass || quantity.unit.kind == UnitClass::activity;
    if (strength && !is_limit(group, part->tokens.first))
      strengths.push_back({.placed = part, .quantity = std::move(quantity)});
  }
  const auto is_old = [&](const Strength& one) {
    return leads_from(word_before(group, one.placed->tokens.first));
  };
  // "Max 1200 mg per day" without any other dose.
  if (strengths.empty())
    return {.placed = first, .doubtful = first != nullptr && is_limit(group, first->tokens.first)};
  if (strengths.size() == 1) {
    // "Reduced from 40 mg": what it is now is not said.
    const bool old = is_old(strengths.front()) && group.passage != nullptr &&
                     says_change(group, group.passage->tokens);
    return {.placed = strengths.front().placed, .doubtful = old};
  }
  const auto same = [&](const Strength& one) {
    return one.quantity.value == strengths.front().quantity.value &&
           one.quantity.unit.code == strengths.front().quantity.unit.code;
  };
  if (std::ranges::all_of(strengths, same)) return {.placed = strengths.front().placed};
  // "Increased from 10 mg to 20 mg", "10 mg was increased to 20 mg"
  const bool old = std::ranges::any_of(strengths, is_old);
  const bool changed =
      old || (group.passage != nullptr && says_change(group, group.passage->tokens));
  const Strength* now = nullptr;
  std::size_t count = 0;
  for (const auto& one : strengths) {
    if (!changed || !leads_to(word_before(group, one.placed->tokens.first))) continue;
    now = &one;
    ++count;
  }
  if (count > 0) return {.placed = now->placed, .doubtful = count > 1};
  return {.placed = strengths.front().placed, .doubtful = true};
}

// A unit in a column of its own.
bool is_unit(const Placed& value) {
  const auto tokens = tokens_of(std::string_view(value.entity->text));
  return read_unit(tokens, 0, value.entity->text).tokens == tokens.size();
}

// Of two units the one that results have: "9 IE nmol/L" is a misread mark and a unit.
bool is_concentration(const Placed& value) {
  const auto tokens = tokens_of(std::string_view(value.entity->text));
  return read_unit(tokens, 0, value.entity->text).kind == UnitClass::concentration;
}

// A point that OCR lost: ten times smaller the value would lie within its range.
bool lost_its_point(const json::Object& value) {
  const auto* range = value.at("range").if_object();
  const auto* quantity = value.at("value").if_object();
  if (range == nullptr || quantity == nullptr) return false;
  const auto* high = range->if_contains("high");
  if (high == nullptr || !high->is_number()) return false;
  const auto number = quantity->at("value").to_number<double>();
  const auto bound = high->to_number<double>();
  return bound > 0 && number > 5 * bound && number / 10 <= bound;
}

bool has_figures(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// "H", "low" … beside a value, outside of all entities.
std::string_view flag_in(const Group& group, TokenRange range, std::size_t value_end) {
  // In prose only what stands right behind the value marks it.
  const bool prose = group.passage != nullptr && !group.passage->item;
  if (prose) range = {.first = value_end, .end = std::min(range.end, value_end + 2)};
  for (auto at = range.first; at < range.end; ++at) {
    const auto flag = flag_of(group.page->tokens[at]);
    // The litre of a unit is no mark.
    if (flag.empty() ||
        (at > 0 && group.page->tokens[at].glued && group.page->tokens[at - 1].is("/")))
      continue;
    const bool inside = std::ranges::any_of(group.entities, [at](const Placed& placed) {
      return placed.tokens.first <= at && at < placed.tokens.end;
    });
    if (!inside) return flag;
  }
  return {};
}

}  // namespace

void FactWriter::write_medications(const Group& group) {
  auto clusters = clusters_of(
      group, Category::medication_name,
      {Category::dose, Category::frequency, Category::route, Category::duration, Category::date});
  for (auto& cluster : clusters) {
    auto fact = fact_of(FactType::MedicationStatement, group, *cluster.head);
    // A strength says more than a number of tablets.
    std::ranges::sort(cluster.parts, {}, [](const Placed* part) {
      const bool count = part->category() == Category::dose && is_count(*part);
      return std::pair(count, part->tokens.first);
    });
    const auto dose = dose_of(group, cluster, manner_.decimal);
    if (dose.placed != nullptr && set_quantity(fact.value, "dose", *dose.placed)) {
      rest_on(fact, *dose.placed);
      if (dose.doubtful) fact.conf = std::min(fact.conf, kDoubtful);
    }
    for (const auto* part : cluster.parts) {
      switch (part->category()) {
        case Category::dose:
          // Where the dose could not be read, another one is for a person to look at.
          if (fact.value["dose"].is_null() && set_quantity(fact.value, "dose", *part)) {
            rest_on(fact, *part);
            fact.conf = std::min(fact.conf, kDoubtful);
          }
          break;
        case Category::frequency:
        case Category::route:
        case Category::duration: {
          const auto field = part->category() == Category::frequency ? "frequency"
                             : part->category() == Category::route   ? "route"
                                                                     : "duration";
          if (!fact.value[field].is_null()) break;
          fact.value[field] = name_text(part->entity->text);
          rest_on(fact, *part);
          break;
        }
        case Category::date: {
          const auto field = date_field(group, *part);
          const auto iso = iso_of(*part);
          if (field.empty() || iso.empty() || !fact.value[field].is_null()) break;
          fact.value[field] = iso;
          rest_on(fact, *part);
          break;
        }
        default:
          break;
      }
    }
    add(std::move(fact));
  }
}

void FactWriter::write_observations(const Group& group) {
  auto clusters =
      clusters_of(group, Category::lab_name, {Category::lab_value, Category::reference_range});
  const auto dates = std::ranges::count(group.entities, Category::date, &Placed::category);
  for (auto& cluster : clusters) {
    auto fact = fact_of(FactType::Observation, group, *cluster.head);
    std::ranges::sort(cluster.parts, {}, [](const Placed* part) {
      return std::tuple(is_unit(*part), !is_concentration(*part), part->tokens.first);
    });
    bool valued = false;
    std::size_t value_end = cluster.tokens.end;
    for (const auto* part : cluster.parts) {
      if (part->category() == Category::reference_range) {
        if (fact.value["range"].is_null() && set_range(fact.value, *part)) rest_on(fact, *part);
        continue;
      }
      const auto& text = part->entity->text;
      if (!valued && !is_unit(*part)) {
        valued = has_figures(text) && set_quantity(fact.value, "value", *part);
        if (!valued) {
          fact.value["text"] = name_text(text);
          valued = true;
        }
        rest_on(fact, *part);
        value_end = part->tokens.end;
        continue;
      }
      // The unit of a value, in a column of its own.
      auto* value = fact.value["value"].if_object();
      if (value == nullptr || !(*value)["unit"].is_null()) continue;
      const auto tokens = tokens_of(std::string_view(text));
      const auto unit = read_unit(tokens, 0, text);
      if (unit.tokens == 0) continue;
      (*value)["unit"] = unit.code;
      rest_on(fact, *part);
    }
    if (!valued) continue;
    if (lost_its_point(fact.value)) fact.conf = std::min(fact.conf, kDoubtful);
    if (const auto flag = flag_in(group, cluster.tokens, value_end); !flag.empty())
      fact.value["flag"] = flag;
    for (const auto& placed : group.entities) {
      if (placed.category() != Category::date || dates != 1) continue;
      if (const auto iso = iso_of(placed); !iso.empty()) {
        fact.value["effective"] = iso;
        rest_on(fact, placed);
      }
    }
    add(std::move(fact));
  }
}

void FactWriter::write_vitals(const Group& group) {
  for (const auto& placed : group.entities) {
    if (placed.category() != Category::vital_sign) continue;
    const auto& text = placed.entity->text;
    const auto tokens = tokens_of(std::string_view(text));
    const auto number =
        std::ranges::find_if(tokens, [](const Token& token) { return token.is_number(); });
    // "SpO2" has no number token; what begins with one has no name.
    if (number == tokens.end() || number == tokens.begin()) continue;
    auto name_last = number;
    const auto listed = Terms::get().longest(tokens, 0, bit(Is::vital));
    if (listed.tokens > 0) name_last = tokens.begin() + static_cast<std::ptrdiff_t>(listed.tokens);
    while (listed.tokens == 0 && name_last != tokens.begin()) {
      const auto& before = *(name_last - 1);
      const bool idle = before.kind == TokenKind::punct || Terms::get().has(before.key, Is::common);
      if (!idle || before.is(")")) break;
      --name_last;
    }
    if (name_last == tokens.begin()) continue;
    auto fact = fact_of(FactType::Observation, group, placed);
    fact.value["name"] = name_text(std::string_view(text).substr(0, (name_last - 1)->bytes.end));
    auto at = static_cast<std::size_t>(number - tokens.begin());
    // "Weight rose from 80 kg to 85 kg"
    if (leads_from((number - 1)->fold)) {
      for (auto i = at + 2; i < tokens.size(); ++i) {
        if (tokens[i].is_number() && leads_to(tokens[i - 1].fold)) at = i;
      }
    }
    const bool pressure =
        at + 2 < tokens.size() && tokens[at + 1].is("/") && tokens[at + 2].is_number();
    if (pressure) {
      fact.value["text"] = name_text(std::string_view(text).substr(tokens[at].bytes.begin));
    } else {
      const auto quantity = read_quantity(tokens, at, text, manner_.decimal);
      if (quantity.tokens == 0 || quantity.misread) continue;
      json::Value unit = nullptr;
      if (!quantity.unit.code.empty()) unit = quantity.unit.code;
      fact.value["value"] = json::Object{{"value", quantity.value}, {"unit", unit}};
    }
    add(std::move(fact));
  }
}

}  // namespace millrace::extract
