// Units: what numbers are counted in, as people write them and OCR reads them, with their codes of
// UCUM. "mg", "x10^9/L", "mL/min/1.73m²", "Tabletten".
#pragma once

#include "extract/token.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace millrace::extract {

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

// A unit at `at`, on the line of the token before.
Unit read_unit(std::span<const Token> tokens, std::size_t at, std::string_view text);

// One word that can be a unit by itself.
bool is_unit_word(std::string_view fold);

// Whether a medicine can be given in such a unit.
bool is_dose_unit(UnitClass kind);

// Whether the token stands on the line of the one before or on the next.
bool same_line(std::span<const Token> tokens, std::size_t at);

}  // namespace millrace::extract
