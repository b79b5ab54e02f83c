// Slant: how the lines of a page run, and which way is up.
//
// Read off the boxes of marks. Letters of a line stand on one line, so of all directions the one in
// which the feet of letters crowd together most is that of the text. Which end is up shows by
// ascenders, of which languages in Latin script have more than descenders.
#pragma once

#include "document/ocr/marks.h"

#include <vector>

namespace millrace::document {

struct Slant {
  // Clockwise quarter turn after which lines run from left to right or upside down: 0 or 90.
  int turn_deg = 0;
  // Clockwise from the horizontal, of the page turned so: -45 to 45.
  double skew_deg = 0;
  // How much better this direction is than the one at a right angle; 1 is no difference.
  double sureness = 1;
  bool known = false;  // There are letters enough.
};

Slant find_slant(const std::vector<Mark>& marks, double letter_height);

}  // namespace millrace::document
