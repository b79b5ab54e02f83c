// Drawing on pages: boxes with labels, and words of files that have no picture of their own.
#pragma once

#include "base/result.h"
#include "document/read/picture.h"
#include "layout/page.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::document {

struct DrawnBox {
  layout::Box box = {};      // Fractions of the page.
  std::uint32_t colour = 0;  // 0xrrggbb
  std::string label = {};
};

// The same picture with boxes drawn on it, 32 bits per pixel.
Result<PixPtr> with_boxes(Pix* pix, const std::vector<DrawnBox>& boxes);

// A white page with its words.
Result<PixPtr> draw_words(const layout::PageMap& page, int width_px_max);

// Loads the fonts, before anybody forks.
void warm_up_drawing();

}  // namespace millrace::document
