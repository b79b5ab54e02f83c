// Places inside a text where it may be parted: between sentences, at line ends, between words.
//
// Sentences are found by rules alone, the same for all languages: a terminator (Unicode's list),
// closing quotes and brackets, white space, and no sign that it was an abbreviation or a number.
// Scripts that write no space after their full stop need none. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::chunk {

enum class TextBreak { sentence, line, word };

bool is_text_break(std::string_view text, std::size_t position, TextBreak kind);

struct BreakRange {
  std::size_t low;     // No break before this,
  std::size_t target;  // the first at or after this if there is one, else the last before it,
  std::size_t high;    // none after this.
};
// std::string_view::npos when there is none. Never 0, never the end of the text.
std::size_t find_text_break(std::string_view text, const BreakRange& range, TextBreak kind);

}  // namespace millrace::chunk
