// Estimated words: where words probably stand when only the box of their paragraph is known.
#pragma once

#include "layout/geometry.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct EstimatedWord {
  std::string text;
  Box box = {};
  std::uint32_t line = 0;  // From 0 on.
};

// Lines as the text has them, or as many as its length and the form of the box suggest; words share
// a line by their lengths. `aspect` is the page's height divided by its width.
std::vector<EstimatedWord> estimate_words(std::string_view text, const Box& box, double aspect);

}  // namespace millrace::layout
