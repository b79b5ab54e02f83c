// Scribe: writes sentences about one patient from patterns, and notes the facts that they state.
//
// A pattern is text with places: {cond}, {neg symptom}, {fam cond}, {hist med}, and with literal
// facts: [neg condition|pleural effusion]. The words neg, fam, hist and hyp say how the fact is
// meant. Names are not used twice in a document while others are left. Threading: none.
#pragma once

#include "samples/chance.h"
#include "samples/data/calendar.h"
#include "samples/data/people.h"
#include "samples/data/terms.h"
#include "samples/language.h"
#include "samples/prose.h"

#include <set>
#include <string>
#include <string_view>

namespace millrace::samples {

struct Patient {
  Person person;
  Day born = {};
  std::string number;  // Of the hospital.
  Place place;
};

class Scribe {
 public:
  Scribe(Language language, Chance chance);

  Prose write(std::string_view pattern);
  // As write(), each sentence from its own list.
  template <class List>
  Prose any(const List& patterns) {
    return write(chance_.pick(patterns));
  }

  Prose person(const Person& who, std::string_view prefix, std::string_view role) const;
  Prose date(Day day, std::string_view role) const;
  Prose identifier(std::string_view text, std::string_view role) const;
  // The phrase as in a list or a sentence: "metformin 500 mg by mouth twice daily".
  Prose medication(Assertion assertion = {});
  Prose allergy(Assertion assertion = {});
  Prose lab(Assertion assertion = {});

  struct Dosing {
    const Drug* drug = nullptr;
    Quantity dose = {};  // Unit in its normal form.
    std::string dose_text = {};
    std::string frequency = {};
    std::string frequency_text = {};
    std::string route_text = {};
  };
  Dosing dosing();  // A drug and how it is taken, for tables and prescriptions.
  Fact fact_of(const Dosing& dosing, Assertion assertion) const;

  struct LabResult {
    const LabTest* test = nullptr;
    double value = 0;
    std::string value_text = {};
    std::string comparator = {};
    std::string flag = {};  // "high", "low" or nothing.
  };
  LabResult lab_result(const LabTest& test, double abnormal_share);
  Fact fact_of(const LabResult& result) const;
  std::string range_text(const LabTest& test) const;
  std::string number(double value, int decimals) const;  // As the language writes it.

  Language language() const { return language_; }
  Chance& chance() { return chance_; }
  const Patient& patient() const { return patient_; }
  Day today() const { return today_; }
  DateForm date_form() const { return date_form_; }
  Day earlier(int days) { return plain_day(chance_, today_ - std::chrono::days(days), days - 1); }

 private:
  struct Place_ {
    Assertion assertion;
    std::string_view kind;
    std::string_view argument;
  };
  Place_ parse_place(std::string_view text) const;
  void fill(Prose& prose, const Place_& place);
  bool fill_words(Prose& prose, const Place_& place);
  bool fill_facts(Prose& prose, const Place_& place);
  void literal(Prose& prose, std::string_view text) const;
  void term(Prose& prose, FactType type, std::span<const Term> terms, Assertion assertion);
  void vital(Prose& prose, std::string_view kind);

  template <class T, class NameOf>
  const T& fresh(std::span<const T> list, NameOf name_of);

  Language language_;
  Chance chance_;
  Patient patient_;
  Day today_;
  DateForm date_form_;
  int dose_style_;  // One habit per document.
  std::set<std::string, std::less<>> used_;
};

}  // namespace millrace::samples
