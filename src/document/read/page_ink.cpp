#include "document/read/page_ink.h"

#include <algorithm>
#include <cmath>

namespace millrace::document {
namespace {

constexpr std::size_t kLinesMax = 20'000;  // Of each direction.
constexpr std::size_t kShapesMax = 20'000;
constexpr double kStraight = 0.35;  // Points that a line may lean.
constexpr double kThin = 1.6;       // A bar is a line up to this width.
constexpr double kShort = 1.2;      // What is shorter is a dot.
constexpr double kLarge = 90;       // No tick and no shade of a box is so large.

}  // namespace

void PageInk::add_line(layout::Point from, layout::Point to) {
  const layout::Box box{.x0 = std::min(from.x, to.x),
                        .y0 = std::min(from.y, to.y),
                        .x1 = std::max(from.x, to.x),
                        .y1 = std::max(from.y, to.y)};
  if (box.height() <= kStraight && box.width() >= kShort) {
    if (level_.size() < kLinesMax)
      level_.push_back({.x0 = box.x0, .y0 = box.centre_y(), .x1 = box.x1, .y1 = box.centre_y()});
  } else if (box.width() <= kStraight && box.height() >= kShort) {
    if (upright_.size() < kLinesMax)
      upright_.push_back({.x0 = box.centre_x(), .y0 = box.y0, .x1 = box.centre_x(), .y1 = box.y1});
  } else {
    add_shape({.box = box});
  }
}

void PageInk::add_filled(const layout::Box& box, double shade) {
  if (std::min(box.width(), box.height()) > kThin) {
    add_shape({.box = box, .filled = true, .shade = shade, .rectangle = true});
  } else if (box.width() >= box.height()) {
    add_line({.x = box.x0, .y = box.centre_y()}, {.x = box.x1, .y = box.centre_y()});
  } else {
    add_line({.x = box.centre_x(), .y = box.y0}, {.x = box.centre_x(), .y = box.y1});
  }
}

void PageInk::add_shape(const InkShape& shape) {
  const bool large = shape.box.width() > kLarge || shape.box.height() > kLarge;
  if (!large && shapes_.size() < kShapesMax) shapes_.push_back(shape);
}

}  // namespace millrace::document
