// Text streams: the words of a page as invisible text of a PDF, where they stand.
//
// What is drawn is the scan; this lies under it and is found, selected and copied. A font without
// glyphs is enough: every code is its Unicode character, every character as wide as the word's box
// divided by its length.
#pragma once

#include "layout/page.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace millrace::document {

// Codes of characters: those of the basic plane are their own, others get one of the surrogates,
// which are no characters.
class TextCodes {
 public:
  // Of every character past the basic plane in these bytes of UTF-8 (JSON, escapes included).
  static TextCodes of(std::string_view json_lines);

  std::uint16_t code(char32_t character) const;
  // The body of the font's ToUnicode stream.
  std::string to_unicode() const;

 private:
  std::map<char32_t, std::uint16_t> others_;
};

// The page's own space: its visible rectangle in points, from the bottom left, not turned.
struct PdfSpace {
  double x0 = 0;
  double y0 = 0;
  double width = 0;
  double height = 0;
};

inline constexpr std::string_view kTextFontName = "/MrWords";

// Content that shows nothing. `font` is the name of the resource.
std::string text_stream(const layout::PageMap& page, const PdfSpace& space, const TextCodes& codes,
                        std::string_view font);

// A TrueType font with one glyph that is empty.
std::string empty_font();

}  // namespace millrace::document
