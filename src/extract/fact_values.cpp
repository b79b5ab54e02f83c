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
  return read_dose(tokens, 0, dose.entity->text, Decimal::point).unit.kind == UnitClass::count;
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

// "400 mg/5 mL", and not "1000 units/h" or "5 mg/kg": how much of it a volume has.
bool is_per_volume(const Unit& unit) {
  const auto slash = unit.code.rfind('/');
  if (unit.kind != UnitClass::strength || slash == std::string::npos) return false;
  auto of = std::string_view(unit.code).substr(slash + 1);
  of.remove_prefix(std::min(of.find_first_not_of("0123456789.,"), of.size()));
  return one_of(of, {"mL", "L", "dL", "cL", "uL"});
}

// "18 units/kg/h", "5 mcg/min": how fast it runs.
bool is_rate(const Unit& unit) { return unit.code.ends_with("/h") || unit.code.ends_with("/min"); }

// "25 mg for a week, then 50 mg": what is taken now is for a person to say.
bool says_then(const Group& group, TokenRange range) {
  for (auto at = range.first; at < range.end; ++at) {
    if (one_of(group.page->tokens[at].fold,
               {"then", "dann", "danach", "anschliessend", "puis", "ensuite", "luego", "despues"}))
      return true;
  }
  return false;
}

std::vector<const Placed*> by_place(const Cluster& cluster) {
  std::vector<const Placed*> parts(cluster.parts.begin(), cluster.parts.end());
  std::ranges::sort(parts, {}, [](const Placed* part) { return part->tokens.first; });
  return parts;
}

// Which of the doses of one medicine is the one that is taken, and whether that is a guess.
struct Dose {
  const Placed* placed = nullptr;
  bool doubtful = false;
};

Quantity quantity_of(const Placed& dose, Decimal decimal) {
  const auto tokens = tokens_of(std::string_view(dose.entity->text));
  return read_dose(tokens, 0, dose.entity->text, decimal);
}

// "2 x 500 mg": two of them at once, where the two are not said to be times of a day.
bool is_multiple(const Group& group, const Cluster& cluster, const Placed& dose) {
  const auto before = word_before(group, dose.tokens.first);
  const auto behind = dose.tokens.end;
  const bool counted = one_of(before, {"two", "three", "four", "2", "3", "4", "zwei", "drei",
                                       "vier", "deux", "trois", "quatre", "dos", "tres", "cuatro"});
  // "Two 5 mg tablets"
  if (counted && behind < group.passage->tokens.end &&
      Terms::get().has(group.page->tokens[behind].key, Is::form))
    return true;
  if (before != "x") return false;
  return std::ranges::none_of(cluster.parts, [&](const Placed* part) {
    return part->category() == Category::frequency && part->tokens.end == dose.tokens.first;
  });
}

// "Vitamin D 3 500 IE": thousands, or D3 written in two.
bool may_be_in_name(const Group& group, const Placed& dose) {
  const auto at = dose.tokens.first;
  const auto& tokens = group.page->tokens;
  return dose.tokens.size() > 2 && word_before(group, at) == "d" &&
         one_of(tokens[at].fold, {"2", "3"}) && tokens[at + 1].is_number() &&
         tokens[at + 1].fold[0] != '0';
}

// "Per sliding scale: 150-200: 2 units": how much it is depends on what is measured.
bool is_by_scale(const Group& group, TokenRange range) {
  for (auto at = range.first + 1; at < range.end; ++at) {
    if (group.page->tokens[at].is("scale") &&
        one_of(group.page->tokens[at - 1].fold, {"sliding", "correction", "correctional"}))
      return true;
  }
  return false;
}

// "1 tab in the morning and 2 tabs in the evening": one frequency says half of it.
bool has_two_schedules(const Group& group, const Cluster& cluster) {
  constexpr double kAtOnceMax = 10;  // More of them are what a pharmacy hands out.
  double count = 0;
  for (const auto* part : by_place(cluster)) {
    if (part->category() != Category::dose || is_limit(group, part->tokens.first)) continue;
    const auto quantity = quantity_of(*part, Decimal::point);
    if (quantity.unit.kind != UnitClass::count || quantity.value > kAtOnceMax) continue;
    if (count > 0 && count != quantity.value) return true;
    count = quantity.value;
  }
  const Placed* frequency = nullptr;
  const Placed* dose = nullptr;  // Behind that frequency.
  for (const auto* part : by_place(cluster)) {
    if (part->category() == Category::dose && frequency != nullptr &&
        frequency->tokens.end < part->tokens.first && !is_limit(group, part->tokens.first))
      dose = part;  // "3 x 500 mg" is one.
    if (part->category() != Category::frequency) continue;
    if (dose != nullptr && part->entity->text != frequency->entity->text) return true;
    if (frequency == nullptr) frequency = part;
  }
  return false;
}

// Which dose it is, however it is written.
Dose chosen_dose(const Group& group, const Cluster& cluster, Decimal decimal);

Dose dose_of(const Group& group, const Cluster& cluster, Decimal decimal) {
  auto dose = chosen_dose(group, cluster, decimal);
  if (dose.placed == nullptr) return dose;
  const auto quantity = quantity_of(*dose.placed, decimal);
  dose.doubtful |= quantity.pair || quantity.unsure || is_multiple(group, cluster, *dose.placed) ||
                   may_be_in_name(group, *dose.placed) || is_by_scale(group, cluster.tokens);
  return dose;
}

Dose chosen_dose(const Group& group, const Cluster& cluster, Decimal decimal) {
  struct Strength {
    const Placed* placed = nullptr;
    Quantity quantity = {};
  };
  std::vector<Strength> strengths;
  const Placed* first = nullptr;
  for (const auto* part : cluster.parts) {
    if (part->category() != Category::dose) continue;
    if (first == nullptr) first = part;
    auto quantity = quantity_of(*part, decimal);
    const bool strength =
        quantity.unit.kind == UnitClass::mass || quantity.unit.kind == UnitClass::activity;
    if (strength && !is_limit(group, part->tokens.first))
      strengths.push_back({.placed = part, .quantity = std::move(quantity)});
  }
  const auto is_old = [&](const Strength& one) {
    return leads_from(word_before(group, one.placed->tokens.first));
  };
  // "400 mg/5 mL, give 6 mL": the strength of a syrup, and how much of it.
  if (strengths.empty() && first != nullptr && is_per_volume(quantity_of(*first, decimal).unit)) {
    for (const auto* part : cluster.parts) {
      if (part->category() == Category::dose &&
          quantity_of(*part, decimal).unit.kind == UnitClass::volume)
        return {.placed = part};
    }
  }
  // "18 units/kg/h, 25,000 units in 250 mL": what is in the bag is no dose.
  if (first != nullptr && is_rate(quantity_of(*first, decimal).unit)) return {.placed = first};
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
  const auto& begun = *strengths.front().placed;
  if (count > 0 && begun.tokens.end <= now->placed->tokens.first &&
      says_then(group, {.first = begun.tokens.end, .end = now->placed->tokens.first}))
    return {.placed = &begun, .doubtful = true};
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

// Where commas are decimal "2.345 pg/mL" may be either.
bool is_unsure(const Placed& value, Decimal decimal) {
  const std::string_view text = value.entity->text;
  const auto tokens = tokens_of(text);
  if (decimal == Decimal::comma) return read_quantity(tokens, 0, text, decimal).unsure;
  // "95.000" on a page that says too little to know its language.
  const bool decimals = read_quantity(tokens, 0, text, decimal).value < 1000;
  return decimals && std::ranges::any_of(tokens, [](const Token& token) {
           return token.is_number() && token.fold.ends_with(".000") && token.fold.size() > 5 &&
                  token.fold.size() < 8 && token.fold[0] != '0';
         });
}

// Whether such a value can stand beside such a range: however ill somebody is, no value is a
// thousand times what is normal.
bool is_of_scale(double value, const Range& range, double scale) {
  constexpr double kFar = 20;
  const bool above = !range.low || value * kFar >= *range.low * scale;
  return above && (!range.high || value <= kFar * *range.high * scale);
}

// "12,400 (4000 - 10000)", "NT-proBNP 2.345 (30 - 125)": what a sign before three figures means is
// seen by the printed range. True: the range says which it is.
bool settle_by_range(json::Object& fact, const Placed& value, const Placed& range,
                     Decimal decimal) {
  const auto value_tokens = tokens_of(std::string_view(value.entity->text));
  const auto read = read_quantity(value_tokens, 0, value.entity->text, decimal);
  const auto range_tokens = tokens_of(std::string_view(range.entity->text));
  const auto bounds = read_range(range_tokens, 0, range.entity->text, decimal);
  auto* number = fact.at("value").if_object();
  auto* ends = fact.at("range").if_object();
  if (number == nullptr || ends == nullptr || read.tokens == 0) return false;
  const bool fits = is_of_scale(read.value, bounds, 1);
  const bool other_fits = read.other && is_of_scale(*read.other, bounds, 1);
  if (fits) return !other_fits;
  if (bounds.either_way) {
    const bool larger = *bounds.high < 1000;
    const auto scaled = [larger](double end) { return larger ? end * 1000 : end / 1000; };
    if (is_of_scale(read.value, bounds, scaled(1))) {
      (*ends)["low"] = scaled(*bounds.low);
      (*ends)["high"] = scaled(*bounds.high);
      return true;
    }
  }
  if (other_fits) (*number)["value"] = *read.other;
  return other_fits;
}

// "140 135-145 mmol/L": the unit of the range is that of the value.
void take_unit(json::Object& fact, const Placed& range, Decimal decimal) {
  auto* value = fact.at("value").if_object();
  if (value == nullptr || !value->at("unit").is_null()) return;
  const auto tokens = tokens_of(std::string_view(range.entity->text));
  const auto unit = read_range(tokens, 0, range.entity->text, decimal).unit;
  if (unit.tokens > 0 && unit.kind != UnitClass::count) (*value)["unit"] = unit.code;
}

bool has_figures(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// "H", "low" … beside a value, outside of all entities.
std::string_view flag_in(const Group& group, TokenRange range, std::size_t value_end,
                         const Placed* bounds) {
  // In prose only what stands right behind the value, or its range, marks it.
  const bool prose = group.passage != nullptr && !group.passage->item;
  if (prose) {
    const auto& tokens = group.page->tokens;
    const auto last = std::min(group.passage->tokens.end, tokens.size());
    if (bounds != nullptr && bounds->tokens.end > value_end) {
      auto behind = bounds->tokens.end;
      while (behind < last && (tokens[behind].is(")") || tokens[behind].is("]"))) ++behind;
      if (behind < last) {
        const auto flag = flag_of(tokens[behind]);
        const bool ends = behind + 1 >= last || !tokens[behind + 1].is_word();
        if (!flag.empty() && ends) return flag;
      }
    }
    range = {.first = value_end, .end = std::min(range.end, value_end + 2)};
  }
  for (auto at = range.first; at < range.end; ++at) {
    const auto flag = flag_of(group.page->tokens[at]);
    // "Al alta" is when somebody left.
    if (flag == "high" && at > 0 && group.page->tokens[at].is("alta") &&
        one_of(group.page->tokens[at - 1].fold, {"al", "de", "del", "el"}))
      continue;
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
    if (has_two_schedules(group, cluster)) fact.conf = std::min(fact.conf, kDoubtful);
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
    const Placed* range = nullptr;
    const Placed* number = nullptr;
    std::size_t value_end = cluster.tokens.end;
    for (const auto* part : cluster.parts) {
      if (part->category() == Category::reference_range) {
        if (fact.value["range"].is_null() && set_range(fact.value, *part)) {
          rest_on(fact, *part);
          range = part;
        }
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
        number = part;
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
    const bool settled = number != nullptr && range != nullptr &&
                         settle_by_range(fact.value, *number, *range, manner_.decimal);
    if (number != nullptr && !settled && is_unsure(*number, manner_.decimal))
      fact.conf = std::min(fact.conf, kDoubtful);
    if (range != nullptr) take_unit(fact.value, *range, manner_.decimal);
    if (lost_its_point(fact.value)) fact.conf = std::min(fact.conf, kDoubtful);
    if (const auto flag = flag_in(group, cluster.tokens, value_end, range); !flag.empty())
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
      // "SBP < 100" is not 100.
      const bool compared = one_of(tokens[at - 1].fold, {"<", ">", "≤", "≥"});
      const auto quantity = read_quantity(tokens, compared ? at - 1 : at, text, manner_.decimal);
      if (quantity.tokens == 0 || quantity.misread) continue;
      if (!quantity.comparator.empty()) fact.value["comparator"] = quantity.comparator;
      json::Value unit = nullptr;
      if (!quantity.unit.code.empty()) unit = quantity.unit.code;
      fact.value["value"] = json::Object{{"value", quantity.value}, {"unit", unit}};
    }
    add(std::move(fact));
  }
}

}  // namespace millrace::extract
