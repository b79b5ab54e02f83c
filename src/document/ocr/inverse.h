// Inverse: bright writing on something dark, made dark on bright as readers want it.
//
// Whole pages (negatives, dark screens) and plates: the filled heads of tables, labels, buttons.
// Both are told from photographs, sheets on dark desks, stamps and rules by what is bright in them:
// separate things of the size of letters, and all the rest one flat darkness.
#pragma once

#include "document/ocr/gray.h"

#include <optional>

namespace millrace::document {

// The page with its values turned round, when it is such a page.
std::optional<Gray> without_inversion(const Gray& image);

// Plates become paper as bright as that around them, with dark letters. The page is level.
void invert_plates(Gray& image);

}  // namespace millrace::document
