#include "layout/confidence.h"

#include <algorithm>
#include <vector>

namespace millrace::layout {
namespace {

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

std::string_view to_string(ConfidenceBin bin) {
  switch (bin) {
    case ConfidenceBin::unknown:
      return "unknown";
    case ConfidenceBin::low:
      return "low";
    case ConfidenceBin::medium:
      return "medium";
    case ConfidenceBin::high:
      return "high";
  }
  return "unknown";
}

ConfidenceBin bin_of(std::optional<double> conf, ConfidenceBounds bounds) {
  if (!conf) return ConfidenceBin::unknown;
  if (*conf >= bounds.high_min) return ConfidenceBin::high;
  return *conf >= bounds.medium_min ? ConfidenceBin::medium : ConfidenceBin::low;
}

PageConfidence confidence_of(const PageMap& page, ConfidenceBounds bounds) {
  PageConfidence out;
  std::vector<double> known;
  double sum = 0;
  double weight = 0;
  for (const auto& word : page.words) {
    switch (bin_of(word.conf, bounds)) {
      case ConfidenceBin::unknown:
        ++out.unknown;
        continue;
      case ConfidenceBin::low:
        ++out.low;
        break;
      case ConfidenceBin::medium:
        ++out.medium;
        break;
      case ConfidenceBin::high:
        ++out.high;
        break;
    }
    known.push_back(*word.conf);
    sum += *word.conf * static_cast<double>(word.text.size());
    weight += static_cast<double>(word.text.size());
  }
  if (known.empty()) return out;
  out.mean = sum / weight;
  const auto tenth = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 10);
  std::ranges::nth_element(known, tenth);
  out.tenth_lowest = *tenth;
  return out;
}

std::optional<double> weakest(const PageMap& page, WordRange words, bool digits_first) {
  std::optional<double> of_all;
  std::optional<double> of_digits;
  for (auto i = words.first; i <= words.last && i < page.words.size(); ++i) {
    const auto& word = page.words[i];
    if (!word.conf) continue;
    of_all = std::min(of_all.value_or(1), *word.conf);
    if (has_digit(word.text)) of_digits = std::min(of_digits.value_or(1), *word.conf);
  }
  return digits_first && of_digits ? of_digits : of_all;
}

}  // namespace millrace::layout
