// Quantities: numbers with their units, and ranges, as prescriptions and laboratory reports have
// them. "500 mg", "<0.5 mg/L", "1,2 x10^9/L", "(12.0 - 16.0)".
//
// Readers take tokens and say how many of them they used; 0 is nothing. Values are those that the
// text has: a sign in front is a dash more often than a minus and is left out.
#pragma once

#include "extract/token.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::extract {

// How numbers are written: where a comma is decimal, a point with three figures parts thousands.
enum class Decimal : std::uint8_t { point, comma };

enum class UnitClass : std::uint8_t {
  none,
  mass,      // mg, µg: a dose.
  count,     // tablets, puffs.
  volume,    // mL
  activity,  // units, IU
  percent,
  concentration,  // mg/dL, 10^9/L: a result.
  strength,       // mg/5 mL, mcg/puff: a dose again.
  other,          // mmHg, cm, bpm …
};

struct Unit {
  std::size_t tokens = 0;
  UnitClass kind = UnitClass::none;
  std::string code = {};  // UCUM where it is known, as printed otherwise.
};

struct Quantity {
  std::size_t tokens = 0;         // All of it.
  std::size_t number_tokens = 0;  // Comparator and number.
  std::string_view comparator = {};
  double value = 0;
  bool misread = false;  // Letters that look like figures were read as such.
  Unit unit = {};
};

struct Range {
  std::size_t tokens = 0;
  std::optional<double> low = {};
  std::optional<double> high = {};
  Unit unit = {};
};

// "1.5", "1,5", "1,000", "l2" (a one that OCR took for a letter, before a unit only).
std::optional<double> number_value(std::string_view text, Decimal decimal);

// A unit at `at`, on the line of the token before.
Unit read_unit(std::span<const Token> tokens, std::size_t at, std::string_view text);
Quantity read_quantity(std::span<const Token> tokens, std::size_t at, std::string_view text,
                       Decimal decimal);
// "3.5 - 5.1", "12 to 16", "< 5", "bis 40"; what stands before and after is the caller's.
Range read_range(std::span<const Token> tokens, std::size_t at, std::string_view text,
                 Decimal decimal);

// Whether a medicine can be given in such a unit.
bool is_dose_unit(UnitClass kind);

}  // namespace millrace::extract
