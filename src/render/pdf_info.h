// make_info_update: what is appended to a finished PDF so that it carries our metadata.
//
// Chromium writes a title and its own name only. An incremental update, a new Info dictionary with
// an xref section and a trailer behind the old end, sets the rest without touching a byte before.
#pragma once

#include "base/clock.h"
#include "render/pdf_scan.h"
#include "render/request.h"

#include <string>

namespace millrace::render {

std::string make_info_update(const PdfShape& shape, const PdfMetadata& metadata, Clock::Wall now);

// A text string of PDF: literal for ASCII, else UTF-16. Bytes that are not UTF-8 become U+FFFD.
std::string pdf_text(std::string_view utf8);

}  // namespace millrace::render
