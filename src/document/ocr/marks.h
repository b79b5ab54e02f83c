// Marks: connected dark spots of a page. Most are letters; others are dots, rules, frames, stains.
//
// What text is, where it stands and how it runs is read off the boxes of marks: a few thousand
// numbers instead of millions of pixels.
#pragma once

#include "document/ocr/gray.h"

#include <cstdint>
#include <vector>

namespace millrace::document {

struct Mark {
  int x0 = 0;  // Pixels, [x0, x1) and [y0, y1).
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  int ink = 0;  // Dark pixels.

  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
  double centre_x() const { return (x0 + x1) / 2.0; }
  double centre_y() const { return (y0 + y1) / 2.0; }
};

struct MarkLimits {
  std::size_t runs_max = 6'000'000;  // Dark stretches of rows. A page of snow has more.
  std::size_t marks_max = 500'000;
};

struct Marks {
  std::vector<Mark> list = {};
  bool too_many = false;  // Nothing but noise: the list is empty.
};

// Pixels darker than `threshold`, joined with all eight neighbours. Rows from top to bottom.
Marks find_marks(const Gray& image, int threshold, const MarkLimits& limits = {});

// The height of most of the ink that could be letters; 0 when there is none. Marks that stand alone
// do not count as long as there are others: on a page with little text most of them are dust.
double letter_height(const std::vector<Mark>& marks, int page_height);

}  // namespace millrace::document
