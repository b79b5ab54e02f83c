// Compare: how near a reading is to the truth. For tests, the demo and benchmarks.
//
// White space counts as one space wherever there is some. Rates can exceed 1 when a reading is
// longer than the truth.
#pragma once

#include "layout/page.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace millrace::layout {

struct ErrorCount {
  std::size_t errors = 0;
  std::size_t expected = 0;  // Characters or words of the truth.
  double rate() const {
    return static_cast<double>(errors) / static_cast<double>(expected == 0 ? 1 : expected);
  }
  ErrorCount& operator+=(const ErrorCount& other) {  // Of several pages.
    errors += other.errors;
    expected += other.expected;
    return *this;
  }
};

struct CompareOptions {
  bool folded = false;  // Case, kinds of quotes and dashes, ligatures do not count.
};

ErrorCount character_errors(std::string_view truth, std::string_view reading,
                            CompareOptions options = {});
ErrorCount word_errors(std::string_view truth, std::string_view reading,
                       CompareOptions options = {});

// Words as often as they occur, whatever their order: reading order has no part in it.
struct WordScore {
  std::size_t expected = 0;
  std::size_t found = 0;
  std::size_t right = 0;
  double recall() const {
    return expected == 0 ? 1 : static_cast<double>(right) / static_cast<double>(expected);
  }
  double precision() const {
    return found == 0 ? 1 : static_cast<double>(right) / static_cast<double>(found);
  }
};

WordScore compare_words(std::string_view truth, std::string_view reading,
                        CompareOptions options = {});

// Words with the same text whose boxes overlap by `iou_min` at least, each taken once.
WordScore compare_boxes(std::span<const Word> truth, std::span<const Word> reading,
                        double iou_min = 0.5);

}  // namespace millrace::layout
