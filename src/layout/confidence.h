// Confidence: how sure an engine was of its words, summed up for people and for routing.
#pragma once

#include "layout/page.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::layout {

enum class ConfidenceBin { unknown, low, medium, high };

std::string_view to_string(ConfidenceBin bin);

struct ConfidenceBounds {
  double medium_min = 0.60;
  double high_min = 0.85;
};

ConfidenceBin bin_of(std::optional<double> conf, ConfidenceBounds bounds = {});

struct PageConfidence {
  std::uint32_t unknown = 0;
  std::uint32_t low = 0;
  std::uint32_t medium = 0;
  std::uint32_t high = 0;
  double mean = 0;          // Of those that are known, by the length of words.
  double tenth_lowest = 0;  // A tenth of the known words is below it.
};

PageConfidence confidence_of(const PageMap& page, ConfidenceBounds bounds = {});

// The least sure of these words; nothing when none of them is known. Words with digits only, if
// there are any and `digits_first` is set: a wrong digit does more harm than a wrong letter.
std::optional<double> weakest(const PageMap& page, WordRange words, bool digits_first);

}  // namespace millrace::layout
