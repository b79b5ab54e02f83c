// Geometry: boxes on a page, and how a source's coordinates become ours.
//
// One form for all engines: fractions of the upright page, origin at the top left, between 0 and
// 1, rounded to five decimals so that equal pages have equal bytes. A Frame says what a source's
// numbers mean; to_page() turns them. Pixels come back only when something is drawn.
#pragma once

#include "base/result.h"

#include <array>
#include <string_view>

namespace millrace::layout {

struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

// x0 <= x1 and y0 <= y1.
struct Box {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;

  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
  double centre_x() const { return (x0 + x1) / 2; }
  double centre_y() const { return (y0 + y1) / 2; }
  double area() const { return width() * height(); }
  friend bool operator==(const Box&, const Box&) = default;
};

// Corners as the text runs: where it begins at the top, then clockwise.
using Quad = std::array<Point, 4>;

Box bounds(const Quad& quad);
Box unite(const Box& a, const Box& b);
double overlap_x(const Box& a, const Box& b);  // Length of the common part, 0 when there is none.
double overlap_y(const Box& a, const Box& b);
double intersection_over_union(const Box& a, const Box& b);

// Between 0 and 1, five decimals; what is no number becomes 0.
double round_coordinate(double value);
Box rounded(const Box& box);
Quad rounded(const Quad& quad);

// 0, 90, 180 or 270 for any multiple of 90; invalid_argument for others.
Result<int> normal_rotation(double degrees, std::string_view field);
// Where a point lies after the page has been turned clockwise.
Point turned(Point point, int rotation_deg);
Box turned(const Box& box, int rotation_deg);
Quad turned(const Quad& quad, int rotation_deg);

enum class Origin { top_left, bottom_left };

struct Frame {
  // The visible rectangle in the source's own unit: 0, 0, width, height of an image; the CropBox
  // of a PDF page, before its /Rotate.
  Box visible = {};
  Origin origin = Origin::top_left;
  // Clockwise turn that makes the page upright.
  int rotation_deg = 0;
};

// invalid_argument when the rectangle is empty or not finite, or the rotation no quarter turn.
Result<void> check_frame(const Frame& frame);
// Whether any of it lies within the visible rectangle.
bool is_visible(const Frame& frame, const Box& box);
// Corners may come in any order.
Box to_page(const Frame& frame, const Box& box);
Quad to_page(const Frame& frame, const Quad& quad);

// How the text of a quad runs, as a clockwise turn from left to right: 0, 90, 180 or 270.
// `aspect` is the page's height divided by its width.
int direction_of(const Quad& quad, double aspect);

}  // namespace millrace::layout
