// Projection: where a point of one image lies in another, straight lines staying straight.
//
// Turning, scaling, levelling and the slanted view of a camera are all of this kind, so a chain of
// them is one matrix, pixels are resampled once, and words found in the last image lead back to the
// first. Coordinates are of corners: the centre of the first pixel is 0.5, 0.5.
#pragma once

#include "layout/geometry.h"

#include <array>
#include <optional>

namespace millrace::document {

class Projection {
 public:
  Projection() = default;  // Everything stays where it is.

  static Projection scale(double x, double y);
  static Projection shift(double x, double y);
  // Clockwise as one sees it, about the origin.
  static Projection rotation(double degrees);
  // An image of that size turned clockwise by quarters, back in the first quadrant.
  static Projection quarter_turn(int turn_deg, double width, double height);
  // Nothing when three of the corners lie on a line.
  static std::optional<Projection> between(const layout::Quad& from, const layout::Quad& to);

  layout::Point operator()(layout::Point point) const;
  // First this, then `next`.
  Projection then(const Projection& next) const;
  Projection inverse() const;  // Of those above, all of which have one.
  bool is_affine() const { return m_[6] == 0 && m_[7] == 0; }
  const std::array<double, 9>& matrix() const { return m_; }

 private:
  explicit Projection(const std::array<double, 9>& matrix) : m_(matrix) {}

  std::array<double, 9> m_ = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // Rows.
};

}  // namespace millrace::document
