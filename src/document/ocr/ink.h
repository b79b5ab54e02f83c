// Ink: which pixels are writing, decided so that grain and specks are not, and rules are not
// letters.
#pragma once

#include "document/ocr/gray.h"
#include "document/ocr/marks.h"

namespace millrace::document {

struct InkLevels {
  int paper = 255;
  int ink = 0;
  double grain = 0;     // Deviation of the paper.
  int threshold = 128;  // Darker is ink.
};

// Of a page with even light.
InkLevels ink_levels(const Gray& image);

// Marks of a page that was smoothed only as much as it needed for specks to be few.
struct InkMarks {
  Gray image = {};  // The page that they were found in.
  InkLevels levels = {};
  std::vector<Mark> marks = {};
  int passes = 0;  // Of smoothing.
};
// `scale` is how much the image was enlarged, and its specks with it.
InkMarks find_ink(Gray image, int passes_min, double scale);

// Lines that were drawn, not written: dark stretches longer than `length` become paper.
void erase_rules(Gray& image, const InkLevels& levels, int length);

}  // namespace millrace::document
