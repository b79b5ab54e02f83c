// Drawn boxes: check boxes that are lines on the page, not signs of its text, and whether somebody
// has ticked them.
//
// They are looked for where forms have them: in front of words that begin a line or stand behind a
// wide gap, and where signs like "[]" or, there, a word of one to four letters were read, which a
// box is easily taken for. Only those small pieces of the picture are levelled and looked at, so a
// page costs milliseconds.
#pragma once

#include "document/ocr/page_reader.h"
#include "layout/form.h"

#include <vector>

namespace millrace::document {

// `page` has the words of `read` in their lines, in fractions of the level page; so are the
// answers. `image` is the picture that was read.
std::vector<layout::DrawnBox> find_drawn_boxes(const Gray& image, const OcrPage& read,
                                               const layout::PageMap& page);

}  // namespace millrace::document
