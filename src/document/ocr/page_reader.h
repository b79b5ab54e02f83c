// PageReader: an image of a page → its words, and where they stand on it.
//
// Flow: marks on a small copy tell how the page lies (corners of a sheet, slant, which way is up);
// pixels are cleaned and resampled once to a level page; its lines are cut out and read one by one;
// boxes go back through the same projection to the page as it came. A page that reads badly is
// tried again, and the better reading stays.
#pragma once

#include "document/ocr/gray.h"
#include "document/ocr/line_reader.h"
#include "layout/page.h"

#include <span>
#include <string>
#include <vector>

namespace millrace::document {

struct OcrWord {
  std::string text;
  double conf = 0;
  layout::Box box = {};   // What its marks cover, pixels of the level page.
  layout::Box slot = {};  // The same from ascender to descender of its line: words of a line agree.
};

struct OcrPage {
  int turn_deg = 0;     // Clockwise, that makes the image upright.
  double skew_deg = 0;  // That was left after turning: clockwise from the horizontal.
  double confidence = 0;
  std::string engine = {};     // The reader's name.
  Size level = {};             // Of the level page.
  Projection to_upright = {};  // From the level page to the image turned upright, pixels.
  std::vector<OcrWord> words = {};
};

// With the reader whose language fits best; there is at least one. Ties go to the first.
OcrPage read_page(const Gray& image, std::span<LineReader* const> readers);

}  // namespace millrace::document
