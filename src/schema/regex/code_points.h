// Code points: UTF-8 read forwards and backwards, and sets of code points.
//
// Bytes that are not UTF-8 count as one U+FFFD each, so every text has a reading. A CodePointSet
// is built, then sealed, then asked; asking for ASCII is one bit test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace::schema {

using CodePoint = std::uint32_t;
inline constexpr CodePoint kCodePointMax = 0x10ffff;

struct Decoded {
  CodePoint code = 0;
  std::uint32_t bytes = 0;
};

// The code point that begins at `at`, which is less than the size.
Decoded decode_at(std::string_view text, std::size_t at);
// The code point that ends before `at`, which is more than 0.
Decoded decode_before(std::string_view text, std::size_t at);
std::size_t count_code_points(std::string_view text);
bool is_utf8(std::string_view text);

class CodePointSet {
 public:
  void add(CodePoint code) { add(code, code); }
  void add(CodePoint first, CodePoint last);  // Both included; first <= last.
  void add(const CodePointSet& other);
  void invert();
  void seal();  // Sorts and joins the ranges. Adding after that needs another seal().

  bool contains(CodePoint code) const {
    if (code < 128) return ((ascii_[code / 64] >> (code % 64)) & 1U) != 0;
    return contains_wide(code);
  }
  std::size_t range_count() const { return ranges_.size(); }

 private:
  struct Range {
    CodePoint first;
    CodePoint last;
  };

  bool contains_wide(CodePoint code) const;

  std::vector<Range> ranges_;
  std::array<std::uint64_t, 2> ascii_{};
};

CodePointSet digit_set();       // \d
CodePointSet word_set();        // \w
CodePointSet space_set();       // \s
CodePointSet line_break_set();  // What `.` does not match.

// The set that \p{expression} names, by the rules of ECMA-262: "Letter", "Script=Greek", "Lu".
// Nothing for names that ECMA-262 does not have, and for those few that are left out here.
std::optional<CodePointSet> unicode_set(std::string_view expression);

}  // namespace millrace::schema
