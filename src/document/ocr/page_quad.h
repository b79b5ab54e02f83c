// Page quad: the four corners of a sheet that lies on something darker, as a camera saw it.
#pragma once

#include "document/ocr/gray.h"

#include <optional>

namespace millrace::document {

// Corners from the top left on, clockwise, in pixels. Nothing unless all four edges are plain to
// see, or when the sheet fills the image anyway.
std::optional<layout::Quad> find_page_quad(const Gray& image);

}  // namespace millrace::document
