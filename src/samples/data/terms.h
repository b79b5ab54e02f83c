// The words of the samples: drugs, laboratory tests, conditions, allergens.
//
// Written for the generator alone; the extractor shares no list with it. Entries with `novel` are
// made up but plausible, or so rare that an ordinary term list does not have them.
#pragma once

#include "samples/language.h"

#include <array>
#include <span>
#include <string_view>

namespace millrace::samples {

struct Drug {
  std::array<std::string_view, kLanguages> names;  // An empty one: as in English.
  std::string_view unit;                           // "mg", "mcg", "units", "mL"
  std::array<double, 3> doses;
  std::string_view route;  // Normal form: "oral", "subcutaneous", "inhaled" …
  bool as_needed = false;
  bool novel = false;

  std::string_view name(Language language) const {
    const std::string_view own = names[at(language)];
    return own.empty() ? names[0] : own;
  }
};

struct LabTest {
  std::array<std::string_view, kLanguages> names;
  std::string_view unit;
  double low = 0;  // low == high == 0: no range; low < 0: only an upper bound.
  double high = 0;
  int decimals = 0;
  std::string_view panel;  // Key of the heading it stands under.
  bool novel = false;

  std::string_view name(Language language) const {
    const std::string_view own = names[at(language)];
    return own.empty() ? names[0] : own;
  }
};

struct Term {
  std::string_view text;
  bool novel = false;
};

struct Allergen {
  std::string_view text;
  std::string_view reaction;
  bool novel = false;
};

std::span<const Drug> drugs();
std::span<const LabTest> lab_tests();
std::span<const Term> conditions(Language language);
std::span<const Term> symptoms(Language language);
std::span<const Term> examinations(Language language);
std::span<const Term> operations(Language language);
std::span<const Allergen> allergens(Language language);

}  // namespace millrace::samples
