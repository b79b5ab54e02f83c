// The sets behind \p{...} as they lie in the program; tools/unicode_sets writes unicode_data.cpp.
#pragma once

#include <span>
#include <string_view>

namespace millrace::schema {

struct UnicodeEntry {
  std::string_view property;  // gc, sc, scx, or nothing for properties that are yes or no.
  std::string_view names;     // Separated by commas, the short one first.
  std::string_view runs;      // Lengths of runs, see tools/unicode_sets.
};

std::span<const UnicodeEntry> unicode_entries();

}  // namespace millrace::schema
