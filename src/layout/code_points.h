// Code points: the text of documents read as Unicode, and offsets counted both ways.
//
// Inside this program offsets into text are bytes of UTF-8; in JSON they are code points, because
// no client can be asked to count bytes. OffsetIndex translates. Bytes that are not UTF-8 count
// as one U+FFFD each, so every text has a reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct Decoded {
  char32_t code = 0;
  std::uint32_t bytes = 0;
  bool valid = true;
};

inline constexpr char32_t kReplacement = 0xfffd;

// The code point that begins at `at`, which is less than the size.
Decoded decode_at(std::string_view text, std::size_t at);
void append_utf8(std::string& out, char32_t code);
std::u32string to_code_points(std::string_view text);
std::size_t count_code_points(std::string_view text);
bool is_utf8(std::string_view text);

bool is_space(char32_t code);      // White space of any width, line ends included.
bool is_control(char32_t code);    // C0, C1 and what has no width and no meaning in a word.
bool is_digit(char32_t code);      // 0 to 9.
bool is_letter(char32_t code);     // Of the scripts below; everything else past Latin counts too.
bool is_upper(char32_t code);      // Latin, Greek and Cyrillic.
bool is_ideograph(char32_t code);  // Written without spaces: Han, kana.
bool is_right_to_left(char32_t code);  // Hebrew, Arabic and their neighbours.
// Without the difference of case, for Latin, Greek and Cyrillic. Others stay as they are.
char32_t fold_case(char32_t code);
// ASCII and the letters above in lower case.
std::string to_lower(std::string_view text);

// A word: at least one character, UTF-8, neither white space nor controls.
bool is_word_text(std::string_view text);

// Offsets of one text of UTF-8, bytes to code points and back. The text must outlive it.
class OffsetIndex {
 public:
  explicit OffsetIndex(std::string_view text);

  // `byte` is at most the size; one in the middle of a character counts as the character's start.
  std::uint32_t code_points_before(std::uint32_t byte) const;
  // Where the code point of that number begins; the size for the number after the last. Nothing
  // for numbers past that.
  std::optional<std::uint32_t> byte_of(std::uint32_t code_point) const;
  std::uint32_t code_point_count() const { return count_; }

 private:
  static constexpr std::uint32_t kStride = 64;

  std::string_view text_;
  std::vector<std::uint32_t> starts_;  // Characters that begin before each stride.
  std::uint32_t count_ = 0;
};

}  // namespace millrace::layout
