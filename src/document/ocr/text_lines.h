// Text lines: marks of a level page put together to lines that can be read one by one.
//
// Letters side by side whose heights overlap are a line, until a gap as wide as between columns or
// cells. Each line knows its foot and how high its small letters are, so that it can be cut out as
// the recogniser was trained to see lines: small letters in the middle half.
#pragma once

#include "document/ocr/marks.h"

#include <cstddef>
#include <vector>

namespace millrace::document {

struct TextLine {
  double x0 = 0;  // Ends, pixels.
  double x1 = 0;
  double foot = 0;   // y of the base line in the middle of the line.
  double slope = 0;  // Its dy/dx.
  double small = 0;  // Height of letters without ascender.
  double top = 0;    // What its marks cover, relative to the base line: negative is above.
  double bottom = 0;
  std::vector<std::size_t> marks = {};  // From left to right, dots included.

  double foot_at(double x) const { return foot + slope * (x - (x0 + x1) / 2); }
};

// Neither a dot or an accent nor a drawing, on a page whose letters are so high.
bool is_letter_size(const Mark& mark, double letter_height);

// From top to bottom, then from left to right.
std::vector<TextLine> find_text_lines(const std::vector<Mark>& marks, double letter_height);

// Above 0: letters with ascenders outnumber those with descenders, in deviations from what chance
// would give. Below 0: the page stands on its head.
double upright_evidence(const std::vector<Mark>& marks, const std::vector<TextLine>& lines);

}  // namespace millrace::document
