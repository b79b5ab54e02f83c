// PageInk: what a PDF page draws besides letters and pictures, as far as check boxes are made of
// it.
//
// Lines that lie level or stand upright, whatever drew them (strokes, rectangles, bars that are
// filled), and the bounds of all other small things. Points of the page as it is shown, from the
// top left. Bounded: a map with a million lines is no form, and what comes after the limit is left
// out.
#pragma once

#include "layout/geometry.h"

#include <cstddef>
#include <vector>

namespace millrace::document {

// A small thing that is neither a level nor an upright line: a tick, a cross, a dot. And whatever
// is white: that is seen on dark things only.
struct InkShape {
  layout::Box box = {};
  bool filled = false;     // Else drawn as a line.
  double shade = 0;        // 0 is black, 1 white.
  bool rectangle = false;  // It has the outline of one, perhaps with round corners.
};

class PageInk {
 public:
  // A stroke between two points.
  void add_line(layout::Point from, layout::Point to);
  // A rectangle that is filled: a bar, a frame's inside, the shade behind something.
  void add_filled(const layout::Box& box, double shade);
  void add_shape(const InkShape& shape);

  // Without width or without height.
  const std::vector<layout::Box>& level() const { return level_; }
  const std::vector<layout::Box>& upright() const { return upright_; }
  // In the order in which they were drawn: later ones lie on earlier ones.
  const std::vector<InkShape>& shapes() const { return shapes_; }

 private:
  std::vector<layout::Box> level_;
  std::vector<layout::Box> upright_;
  std::vector<InkShape> shapes_;
};

}  // namespace millrace::document
