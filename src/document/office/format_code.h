// FormatCode: the code of a number's format, as sheets have it, taken apart: sections for positive
// and negative numbers and zero, each of them places for digits, letters of dates, and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct FormatToken {
  enum class Kind : std::uint8_t {
    literal,  // Words, units, currencies: as they are.
    digit,    // "0", "#" or "?"
    point,
    comma,
    percent,
    exponent,
    slash,
    general,
    date,     // A run of one of "ymdhs", in lower case.
    elapsed,  // The same that was in brackets: not cut at days or hours.
  };
  Kind kind = Kind::literal;
  std::string text = {};

  friend bool operator==(const FormatToken&, const FormatToken&) = default;
};

struct FormatSection {
  struct Condition {
    std::string compare;  // "<", ">=", "<>" …
    double with = 0;
  };
  std::vector<FormatToken> tokens = {};
  std::optional<Condition> condition = {};
};

class FormatCode {
 public:
  static FormatCode parse(std::string_view code);

  struct Choice {
    const FormatSection* section = nullptr;
    bool says_sign = false;  // The section itself tells that the number is negative.
  };
  // Valid as long as this is.
  Choice section_for(double value) const;

 private:
  std::vector<FormatSection> sections_;  // One at least.
};

}  // namespace millrace::document
