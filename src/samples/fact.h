// Fact: one thing that a sample document says, as a careful reader would note it down.
//
// The writers make facts together with the sentences that state them, so the truth cannot differ
// from the text. Everything of the listed types that a document says is a fact, also what it
// denies: precision can be judged as well as recall.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::samples {

enum class FactType {
  medication,
  lab,
  allergy,
  condition,
  procedure,
  vital,
  date,
  person,
  identifier,
};

std::string_view to_string(FactType type);
std::optional<FactType> parse_fact_type(std::string_view text);

struct Assertion {
  bool negated = false;       // "denies chest pain"
  bool family = false;        // "mother had breast cancer"
  bool historical = false;    // "stopped in 2019", "history of"
  bool hypothetical = false;  // "return if fever"
};

struct Quantity {
  double value = 0;
  std::string unit = {};
};

struct Fact {
  FactType type = FactType::condition;
  std::string name = {};  // As written, without the rest of the phrase.
  std::string text = {};  // As written; line ends of the page count as spaces.
  Assertion assertion = {};
  bool novel = false;  // The name is not one that an ordinary term list has.

  // medication
  std::optional<Quantity> dose = {};
  std::string frequency = {};  // Normal form, README.md lists them.
  std::string frequency_text = {};
  std::string route = {};  // Normal form.
  // lab, vital
  std::optional<double> value = {};
  std::string comparator = {};  // "<" or ">"
  std::string value_text = {};  // When the result is a word.
  std::string unit = {};
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::string flag = {};  // "high" or "low", when the document says so.
  // allergy
  std::string reaction = {};
  // date
  std::string iso = {};
  // person, identifier, date: what it is in this document.
  std::string role = {};

  std::uint32_t page = 0;  // From 1; set when the page is made.
};

json::Object to_json(const Fact& fact);

}  // namespace millrace::samples
