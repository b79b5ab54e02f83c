// LineRun: how words of one line run over the page, in pixels of the upright page. hOCR and ALTO
// both want to know, and a spatial map has only boxes.
#pragma once

#include "layout/page.h"

#include <optional>

namespace millrace::output {

struct PixelBox {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
};

PixelBox to_pixels(const layout::Box& box, const layout::PageInfo& page);

// y = slope · x + offset, from the lower left corner of the line's box, y down: offset is 0 or
// less.
struct Baseline {
  double slope = 0;
  double offset = 0;
};

struct LineRun {
  layout::Box box = {};
  int angle_deg = 0;                      // Turn of the text counter-clockwise: 0, 90, 180, 270.
  std::optional<Baseline> baseline = {};  // Of level text only.
  bool right_to_left = false;
};

// `words` stand on one line.
LineRun run_of(const layout::PageMap& page, layout::WordRange words);

}  // namespace millrace::output
