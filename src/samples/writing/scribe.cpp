#include "samples/writing/scribe.h"

#include "base/assert.h"
#include "samples/writing/dosing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::samples {
namespace {

constexpr std::string_view kHe[kLanguages][2] = {
    {"he", "she"}, {"er", "sie"}, {"il", "elle"}, {"él", "ella"}};
constexpr std::string_view kHis[kLanguages][2] = {
    {"his", "her"}, {"seine", "ihre"}, {"son", "son"}, {"su", "su"}};
constexpr std::string_view kHim[kLanguages][2] = {
    {"him", "her"}, {"ihn", "sie"}, {"lui", "elle"}, {"él", "ella"}};
constexpr std::string_view kMister[kLanguages][2] = {
    {"Mr", "Mrs"}, {"Herr", "Frau"}, {"M.", "Mme"}, {"D.", "Dña."}};
constexpr std::string_view kDoctor[kLanguages] = {"Dr", "Dr.", "Dr", "Dr."};

Fact simple(FactType type, std::string_view name, Assertion assertion) {
  return {.type = type, .name = std::string(name), .assertion = assertion};
}

}  // namespace

Scribe::Scribe(Language language, Chance chance)
    : language_(language),
      chance_(chance),
      today_(plain_day(chance_, day_of(2021, 1, 13), 1500)),
      date_form_(pick_date_form(chance_)),
      dose_style_(chance_.happens(0.45) ? 1 : 0) {
  patient_.person = make_person(chance_, language);
  patient_.born = plain_day(chance_, day_of(1938, 1, 13), 20000);
  patient_.number = fmt::format("{}-{:05}", chance_.whole(10, 99), chance_.whole(1200, 98999));
  patient_.place = make_place(chance_, language);
}

template <class T, class NameOf>
const T& Scribe::fresh(std::span<const T> list, NameOf name_of) {
  const T* chosen = &chance_.pick(list);
  for (int tries = 0; tries < 40 && used_.contains(name_of(*chosen)); ++tries) {
    chosen = &chance_.pick(list);
  }
  used_.emplace(name_of(*chosen));
  return *chosen;
}

Prose Scribe::write(std::string_view pattern) {
  Prose prose;
  bool sentence_begins = true;
  for (std::size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c != '{' && c != '[') {
      prose.say(pattern.substr(i, 1));
      sentence_begins = sentence_begins && c == ' ';
      ++i;
      continue;
    }
    const std::size_t end = pattern.find(c == '{' ? '}' : ']', i);
    MR_ASSERT(end != std::string_view::npos);
    const std::string_view inner = pattern.substr(i + 1, end - i - 1);
    const std::size_t from = prose.size();
    if (c == '{') {
      fill(prose, parse_place(inner));
    } else {
      literal(prose, inner);
    }
    // A place at the start of a sentence: names and pronouns take a capital.
    const bool after_stop = from >= 2 && prose.text()[from - 1] == ' ' &&
                            (prose.text()[from - 2] == '.' && i >= 2 && pattern[i - 2] == '.');
    if (sentence_begins || after_stop) prose.capitalise(from);
    sentence_begins = false;
    i = end + 1;
  }
  return prose;
}

Scribe::Place_ Scribe::parse_place(std::string_view text) const {
  Place_ place = {};
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
    if (word == "neg") {
      place.assertion.negated = true;
    } else if (word == "fam") {
      place.assertion.family = true;
    } else if (word == "hist") {
      place.assertion.historical = true;
    } else if (word == "hyp") {
      place.assertion.hypothetical = true;
    } else {
      place.kind = word;
      place.argument = text;
      break;
    }
  }
  return place;
}

void Scribe::literal(Prose& prose, std::string_view text) const {
  const std::size_t bar = text.find('|');
  MR_ASSERT(bar != std::string_view::npos);
  const Place_ place = parse_place(text.substr(0, bar));
  const auto type = parse_fact_type(place.kind);
  MR_ASSERT(type.has_value());
  const std::string_view words = text.substr(bar + 1);
  Fact fact = simple(*type, words, place.assertion);
  fact.novel = place.argument == "novel";
  prose.state(std::move(fact), words);
}

void Scribe::fill(Prose& prose, const Place_& place) {
  const bool known = fill_words(prose, place) || fill_facts(prose, place);
  MR_ASSERT(known);
}

bool Scribe::fill_words(Prose& prose, const Place_& place) {
  const std::size_t sex = patient_.person.female ? 1 : 0;
  if (place.kind == "he") {
    prose.say(kHe[at(language_)][sex]);
  } else if (place.kind == "his") {
    prose.say(kHis[at(language_)][sex]);
  } else if (place.kind == "him") {
    prose.say(kHim[at(language_)][sex]);
  } else if (place.kind == "sex") {  // {sex Herrn|Frau}
    const std::size_t bar = place.argument.find('|');
    prose.say(sex == 0 ? place.argument.substr(0, bar) : place.argument.substr(bar + 1));
  } else if (place.kind == "age") {
    const auto years = std::chrono::floor<std::chrono::years>(today_ - patient_.born);
    prose.say(fmt::format("{}", years.count()));
  } else if (place.kind == "num") {  // {num 3 9}
    const std::size_t space = place.argument.find(' ');
    const int low = std::stoi(std::string(place.argument.substr(0, space)));
    const int high = std::stoi(std::string(place.argument.substr(space + 1)));
    prose.say(fmt::format("{}", chance_.whole(low, high)));
  } else {
    return false;
  }
  return true;
}

bool Scribe::fill_facts(Prose& prose, const Place_& place) {
  const std::size_t sex = patient_.person.female ? 1 : 0;
  if (place.kind == "patient") {
    prose.add(person(patient_.person, {}, "patient"));
  } else if (place.kind == "mister") {
    const std::string_view title = kMister[at(language_)][sex];
    const std::size_t from = prose.size();
    prose.say(title).say(" ").say(patient_.person.family);
    Fact fact = simple(FactType::person, patient_.person.family, {});
    fact.role = "patient";
    prose.close(from, std::move(fact));
  } else if (place.kind == "doctor") {
    prose.add(person(make_person(chance_, language_), kDoctor[at(language_)], "physician"));
  } else if (place.kind == "cond") {
    term(prose, FactType::condition, conditions(language_), place.assertion);
  } else if (place.kind == "symptom") {
    term(prose, FactType::condition, symptoms(language_), place.assertion);
  } else if (place.kind == "exam") {
    term(prose, FactType::procedure, examinations(language_), place.assertion);
  } else if (place.kind == "op") {
    term(prose, FactType::procedure, operations(language_), place.assertion);
  } else if (place.kind == "med") {
    prose.add(medication(place.assertion));
  } else if (place.kind == "drug") {
    const Drug& drug = fresh(drugs(), [&](const Drug& d) { return d.name(language_); });
    Fact fact = simple(FactType::medication, drug.name(language_), place.assertion);
    fact.novel = drug.novel;
    prose.state(std::move(fact), drug.name(language_));
  } else if (place.kind == "allergy") {
    prose.add(allergy(place.assertion));
  } else if (place.kind == "lab") {
    prose.add(lab(place.assertion));
  } else if (place.kind == "date") {  // {date 30}: within the last 30 days.
    prose.add(date(earlier(std::stoi(std::string(place.argument))), "event"));
  } else if (place.kind == "today") {
    prose.add(date(today_, "document"));
  } else if (place.kind == "born") {
    prose.add(date(patient_.born, "birth"));
  } else if (place.kind == "year") {
    const auto year = int(std::chrono::year_month_day(today_).year()) - chance_.whole(2, 15);
    Fact fact = simple(FactType::date, fmt::format("{}", year), {});
    fact.iso = fact.name;
    fact.role = "year";
    const std::string words = fact.name;
    prose.state(std::move(fact), words);
  } else if (place.kind == "vital") {
    vital(prose, place.argument);
  } else {
    return false;
  }
  return true;
}

void Scribe::term(Prose& prose, FactType type, std::span<const Term> terms, Assertion assertion) {
  const Term& chosen = fresh(terms, [](const Term& t) { return t.text; });
  Fact fact = simple(type, chosen.text, assertion);
  fact.novel = chosen.novel;
  prose.state(std::move(fact), chosen.text);
}

void Scribe::vital(Prose& prose, std::string_view kind) {
  Fact fact = simple(FactType::vital, kind, {});
  std::string words;
  if (kind == "bp") {
    words = fmt::format("{}/{} mmHg", chance_.whole(104, 178), chance_.whole(58, 99));
    fact.value_text = words.substr(0, words.find(' '));
    fact.unit = "mmHg";
  } else if (kind == "pulse") {
    const int value = chance_.whole(54, 118);
    words = fmt::format("{}/min", value);
    fact.value = value;
    fact.unit = "/min";
  } else if (kind == "temp") {
    const double value = chance_.whole(360, 391) / 10.0;
    words = number(value, 1) + " °C";
    fact.value = value;
    fact.unit = "°C";
  } else if (kind == "sat") {
    const int value = chance_.whole(89, 99);
    words = fmt::format("{} %", value);
    fact.value = value;
    fact.unit = "%";
  } else {
    const int value = chance_.whole(51, 112);
    words = fmt::format("{} kg", value);
    fact.value = value;
    fact.unit = "kg";
  }
  prose.state(std::move(fact), words);
}

Prose Scribe::person(const Person& who, std::string_view prefix, std::string_view role) const {
  Prose prose;
  if (!prefix.empty()) prose.say(prefix).say(" ");
  prose.say(who.full());
  Fact fact = simple(FactType::person, who.full(), {});
  fact.role = role;
  prose.close(0, std::move(fact));
  return prose;
}

Prose Scribe::date(Day day, std::string_view role) const {
  const std::string words = write_date(day, date_form_, language_);
  Fact fact = simple(FactType::date, words, {});
  fact.iso = iso_date(day);
  fact.role = role;
  Prose prose;
  prose.state(std::move(fact), words);
  return prose;
}

Prose Scribe::identifier(std::string_view text, std::string_view role) const {
  Fact fact = simple(FactType::identifier, text, {});
  fact.role = role;
  Prose prose;
  prose.state(std::move(fact), text);
  return prose;
}

std::string Scribe::number(double value, int decimals) const {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (language_ != Language::en) std::ranges::replace(text, '.', ',');
  return text;
}

Scribe::Dosing Scribe::dosing() {
  Dosing dosing;
  dosing.drug = &fresh(drugs(), [&](const Drug& d) { return d.name(language_); });
  const Drug& drug = *dosing.drug;
  dosing.dose = {chance_.pick(drug.doses), std::string(drug.unit)};
  int decimals = 0;
  for (double scaled = dosing.dose.value;
       decimals < 2 && std::abs(scaled - std::round(scaled)) > 1e-9; scaled *= 10) {
    ++decimals;
  }
  dosing.dose_text = number(dosing.dose.value, decimals) + " " + unit_text(drug.unit, language_);
  const Frequency& frequency = pick_frequency(chance_, drug, language_, dose_style_);
  dosing.frequency = frequency.normal;
  dosing.frequency_text = frequency.text;
  dosing.route_text = route_text(drug.route, language_, dose_style_);
  return dosing;
}

Fact Scribe::fact_of(const Dosing& dosing, Assertion assertion) const {
  Fact fact = simple(FactType::medication, dosing.drug->name(language_), assertion);
  fact.novel = dosing.drug->novel;
  fact.dose = dosing.dose;
  fact.frequency = dosing.frequency;
  fact.frequency_text = dosing.frequency_text;
  return fact;
}

Prose Scribe::medication(Assertion assertion) {
  const Dosing how = dosing();
  Fact fact = fact_of(how, assertion);
  Prose prose;
  prose.say(fact.name).say(" ").say(how.dose_text);
  // What everybody swallows is seldom said to be swallowed.
  if (how.drug->route != "oral" || chance_.happens(0.4)) {
    fact.route = how.drug->route;
    prose.say(" ").say(how.route_text);
  }
  prose.say(" ").say(how.frequency_text);
  prose.close(0, std::move(fact));
  return prose;
}

Prose Scribe::allergy(Assertion assertion) {
  const Allergen& allergen = fresh(allergens(language_), [](const Allergen& a) { return a.text; });
  Fact fact = simple(FactType::allergy, allergen.text, assertion);
  fact.novel = allergen.novel;
  Prose prose;
  prose.say(allergen.text);
  if (chance_.happens(0.75)) {
    fact.reaction = allergen.reaction;
    prose.say(" (").say(allergen.reaction).say(")");
  }
  prose.close(0, std::move(fact));
  return prose;
}

Scribe::LabResult Scribe::lab_result(const LabTest& test, double abnormal_share) {
  LabResult result;
  result.test = &test;
  const double low = std::max(test.low, 0.0);
  const double width = test.high - low;
  result.value = low + width * chance_.between(0.08, 0.92);
  if (chance_.happens(abnormal_share)) {
    const bool below = test.low > 0 && chance_.happens(0.4);
    result.value = below ? std::max(test.low - width * chance_.between(0.1, 0.7), test.low * 0.5)
                         : test.high + width * chance_.between(0.1, 0.9);
    result.flag = below ? "low" : "high";
  }
  const double scale = std::pow(10.0, test.decimals);
  result.value = std::round(result.value * scale) / scale;
  // Rounding may have put it back onto the bound.
  if (result.value >= low && result.value <= test.high) result.flag.clear();
  result.value_text = number(result.value, test.decimals);
  return result;
}

Fact Scribe::fact_of(const LabResult& result) const {
  const LabTest& test = *result.test;
  Fact fact = simple(FactType::lab, test.name(language_), {});
  fact.novel = test.novel;
  fact.value = result.value;
  fact.unit = test.unit;
  fact.flag = result.flag;
  return fact;
}

std::string Scribe::range_text(const LabTest& test) const {
  if (test.low < 0) return "< " + number(test.high, test.decimals);
  return number(test.low, test.decimals) + " - " + number(test.high, test.decimals);
}

Prose Scribe::lab(Assertion assertion) {
  const LabTest& test = fresh(lab_tests(), [&](const LabTest& t) { return t.name(language_); });
  const LabResult result = lab_result(test, 0.4);
  Fact fact = fact_of(result);
  fact.flag.clear();  // A sentence gives the number only.
  fact.assertion = assertion;
  Prose prose;
  prose.say(fact.name).say(" ").say(result.value_text).say(" ").say(test.unit);
  prose.close(0, std::move(fact));
  return prose;
}

}  // namespace millrace::samples
