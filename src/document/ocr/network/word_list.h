// WordList: the words of a language, as its model file has them.
//
// A graph whose edges are characters: each edge is one number of 64 bits with the character,
// whether a word may end here, whether it is the last edge of its node, and where the next node
// begins.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::document {

class WordList {
 public:
  WordList() = default;  // Knows no word.

  // invalid_argument when the bytes are no such graph. Edges that lead outside are ends.
  static Result<WordList> parse(std::string_view bytes);

  // `characters` are ids of the alphabet.
  bool has(std::span<const std::int32_t> characters) const;

 private:
  std::vector<std::uint64_t> edges_;
  std::uint64_t letter_mask_ = 0;
  unsigned flags_at_ = 0;
  unsigned next_at_ = 0;
};

}  // namespace millrace::document
