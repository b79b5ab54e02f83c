// Words printed where a map says, by Cairo alone: Pango looks its fonts up in threads of its own,
// and a confined child has none.
#pragma once

#include "layout/page.h"

#include <cairo.h>

namespace millrace::document {

void choose_font(cairo_t* cairo, double size);

// In user space of `width` by `height`.
void paint_words(cairo_t* cairo, const layout::PageMap& page, double width, double height);

}  // namespace millrace::document
