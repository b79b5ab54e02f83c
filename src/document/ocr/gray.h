// Gray: an image of one byte per pixel, 0 black and 255 white, and what can be done to one.
//
// Rows follow each other without gaps, so that loops over them are loops over bytes. Nothing here
// allocates more than the result and a few rows. Sides are at least 1.
#pragma once

#include "document/ocr/projection.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::document {

struct Gray {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels = {};

  Gray() = default;
  Gray(int width_px, int height_px, std::uint8_t value = 255)
      : width(width_px),
        height(height_px),
        pixels(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px), value) {}

  std::uint8_t* row(int y) { return pixels.data() + offset(y); }
  const std::uint8_t* row(int y) const { return pixels.data() + offset(y); }
  std::uint8_t at(int x, int y) const { return row(y)[x]; }
  bool empty() const { return pixels.empty(); }

 private:
  std::size_t offset(int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
};

// Means of `factor` × `factor` pixels; what is left over at the edges goes to the last ones.
Gray reduced(const Gray& image, int factor);

// `size` pixels of what `to_source` finds for their centres; outside of the source the nearest
// pixel of its edge, or white when it is more than two pixels away. Sharp (cubic), for scales
// near 1.
struct Size {
  int width = 0;
  int height = 0;
};
Gray warped(const Gray& image, const Projection& to_source, Size size, std::uint8_t outside);

// Of another size; each pixel is the weighted mean of those that it covers.
Gray resized(const Gray& image, Size size);

// Clockwise by 0, 90, 180 or 270.
Gray turned(const Gray& image, int turn_deg);

// A bell of this width, by three boxes.
Gray blurred(const Gray& image, double sigma_px);

// A narrow bell: `passes` times a quarter of each neighbour. Its deviation is the root of half of
// them.
Gray smoothed(const Gray& image, int passes);

// Strokes a pixel thicker on each side: of every 3 × 3 pixels the darkest.
Gray thickened(const Gray& image);

// How many pixels have each value; every `step`th row and column.
std::vector<std::uint32_t> histogram(const Gray& image, int step = 1);
// The value between the two classes that are farthest apart.
int otsu_threshold(const std::vector<std::uint32_t>& histogram);

}  // namespace millrace::document
