// Words printed where a map says, by Cairo and Pango.
#pragma once

#include "layout/page.h"

#include <cairo.h>

namespace millrace::document {

// In user space of `width` by `height`.
void paint_words(cairo_t* cairo, const layout::PageMap& page, double width, double height);

}  // namespace millrace::document
