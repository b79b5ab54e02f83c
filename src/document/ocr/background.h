// Background: how bright the paper is, place by place, and an image with all of that taken out.
//
// Light falls unevenly on what is photographed, and coffee on what is not. The paper's own
// brightness is the upper end of what a small tile shows; dividing by it leaves ink and paper.
#pragma once

#include "document/ocr/gray.h"

#include <vector>

namespace millrace::document {

class Background {
 public:
  explicit Background(const Gray& image);

  // Whether dividing by it would change anything that matters.
  bool is_even() const { return darkest_ >= 238; }
  int darkest() const { return darkest_; }
  int brightest() const { return brightest_; }
  double at(double x, double y) const;  // Pixels of the image.

  // Paper becomes kPaper everywhere.
  Gray remove_from(const Gray& image) const;

  static constexpr int kPaper = 245;

 private:
  int tile_ = 1;
  int columns_ = 0;
  int rows_ = 0;
  int darkest_ = 255;
  int brightest_ = 0;
  std::vector<int> levels_;

  int level(int column, int row) const;
};

// Ink and paper as far apart as they can be: what is `ink` becomes 16, `paper` stays kPaper.
Gray stretched(const Gray& image, int ink, int paper);

}  // namespace millrace::document
