// Row words: what an engine read in the image of a row → words of the page.
//
// The engine knows the letters, the page knows where they stand: boxes are those of the marks, a
// gap as wide as a space is one even if the engine overlooked it, and what an engine makes of
// scribbles and dirt is left out.
#pragma once

#include "document/ocr/level_page.h"
#include "document/ocr/line_reader.h"
#include "document/ocr/page_reader.h"

#include <vector>

namespace millrace::document {

// How wide spaces are on a page, in small letters, as far as the engine saw them.
class SpaceWidths {
 public:
  void add(const LevelPage& page, const RowImage& row, const std::vector<LineWord>& words);
  double usual() const;  // 0 when nothing is known.

 private:
  std::vector<double> widths_;
};

std::vector<OcrWord> row_words(const LevelPage& page, const RowImage& row,
                               const std::vector<LineWord>& words, const SpaceWidths& spaces);

}  // namespace millrace::document
