// What the tests of this folder share. For tests only.
#pragma once

#include "samples/classes.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace millrace::samples {

// All white space as one space.
inline std::string normalised(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  std::string word;
  while (words >> word) result += (result.empty() ? "" : " ") + word;
  return result;
}

inline Sample sample_of(std::string_view sample_class, int index, std::uint64_t seed = 7) {
  auto sample = make_sample(sample_class, seed, index);
  EXPECT_TRUE(sample.has_value()) << sample.error().describe();
  return sample.has_value() ? std::move(*sample) : Sample{};
}

}  // namespace millrace::samples
