// Quantities: numbers with their units, and ranges, as prescriptions and laboratory reports have
// them. "500 mg", "<0.5 mg/L", "1,2 x10^9/L", "(12.0 - 16.0)".
//
// Readers take tokens and say how many of them they used; 0 is nothing. Values are those that the
// text has: a sign in front is a dash more often than a minus and is left out.
#pragma once

#include "extract/unit.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::extract {

// How numbers are written: where a comma is decimal, a point with three figures parts thousands.
enum class Decimal : std::uint8_t { point, comma };

struct Quantity {
  std::size_t tokens = 0;         // All of it.
  std::size_t number_tokens = 0;  // Comparator and number.
  std::string_view comparator = {};
  double value = 0;
  bool misread = false;  // Letters that look like figures were read as such.
  bool pair = false;     // "5/325 mg": of two substances; the value is that of the first one.
  bool unsure = false;   // Its sign or space may part thousands, or may not; or a range of doses.
  // What it is if its sign means the other thing: 1.25 of "1.250" that was read as thousands.
  std::optional<double> other = {};
  Unit unit = {};
};

struct Range {
  std::size_t tokens = 0;
  std::optional<double> low = {};
  std::optional<double> high = {};
  bool either_way = false;  // A thousand times as much if the sign of both ends means that.
  Unit unit = {};
};

// "1.5", "1,5", "1,000", ".5"; nothing for dates and for "050". Before three figures the sign of
// decimals is one; the other sign parts thousands, but for "3.125" where commas are decimal.
std::optional<double> number_value(std::string_view text, Decimal decimal);

// "500 mg", "1 000 mg" where spaces part thousands, "1/2 tab", "1½ tablets", "875/125 mg".
Quantity read_quantity(std::span<const Token> tokens, std::size_t at, std::string_view text,
                       Decimal decimal);
// "3.5 - 5.1", "12 to 16", "< 5", "bis 40"; what stands before and after is the caller's.
Range read_range(std::span<const Token> tokens, std::size_t at, std::string_view text,
                 Decimal decimal);

// The same of a dose: "5-10 mg" is its lower end, and unsure.
Quantity read_dose(std::span<const Token> tokens, std::size_t at, std::string_view text,
                   Decimal decimal);
// "1:160", "1/160", "2+", "++": results that are no quantities; how many tokens. "1:30 pm" and
// "1/15" are no dilutions.
std::size_t read_grade(std::span<const Token> tokens, std::size_t at);

}  // namespace millrace::extract
