// Noise: how much of it an image has, and the image without.
//
// Clean pages must not be touched, so everything is measured first. Two kinds are told apart:
// specks, single pixels that stand out from all around them, and grain, which is everywhere.
#pragma once

#include "document/ocr/gray.h"

namespace millrace::document {

struct Noise {
  double specks = 0;  // Share of pixels.
  double grain = 0;   // Standard deviation of the paper.

  // In grain single pixels stand out as well, and taking them away leaves its clumps.
  bool has_specks() const { return specks > 0.002 && grain < 6; }
};

Noise measure_noise(const Gray& image);

// Single pixels, and pairs of them, replaced by what is around them; everything else stays.
Gray without_specks(const Gray& image);
// Means over places that look alike, within a few pixels. `grain` as measured.
Gray without_grain(const Gray& image, double grain);

}  // namespace millrace::document
