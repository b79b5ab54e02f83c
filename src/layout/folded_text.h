// FoldedText: text as it is compared, and where each character of it came from.
//
// Differences that say nothing are gone: case, kinds of spaces, quotes and dashes, ligatures, and
// words that a line end had divided.
#pragma once

#include "layout/page.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct FoldedText {
  std::u32string chars = {};
  std::vector<ByteRange> sources = {};  // One for each.

  // Where characters [begin, end) came from; begin < end.
  ByteRange source_of(std::size_t begin, std::size_t end) const {
    return {.begin = sources[begin].begin, .end = sources[end - 1].end};
  }
};

FoldedText fold(std::string_view text);
// The same as UTF-8, for keys.
std::string folded_utf8(std::string_view text);

}  // namespace millrace::layout
