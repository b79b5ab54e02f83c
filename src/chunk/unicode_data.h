// The tables that tools/unicode_text writes. chunk/unicode.h is how they are asked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace millrace::chunk {

// bits 0–7 canonical combining class; 8–9 NFC quick check (0 yes, 1 maybe, 2 no);
// 10–13 grapheme cluster break (ClusterBreak); 14 ends a sentence; 15 may follow such an end.
struct PropertyRun {
  char32_t first;
  char32_t last;
  std::uint16_t bits;
};

// One step of the canonical decomposition; `second` is 0 where one character stands for another.
struct Decomposition {
  char32_t whole;
  char32_t first;
  char32_t second;
  int composes;  // 0: never put together again (composition exclusions).
};

std::span<const PropertyRun> property_runs();     // Sorted; what is not listed has no bit set.
std::span<const Decomposition> decompositions();  // Sorted by `whole`.
std::string_view unicode_version();

}  // namespace millrace::chunk
