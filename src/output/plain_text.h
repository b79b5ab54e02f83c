// Plain text of pages, with or without marks between them.
//
// Without marks the text of a page is exactly PageMap::text, so offsets of facts and words lead
// into it. Pages are written one by one: a document is their concatenation.
#pragma once

#include "layout/page.h"
#include "layout/spatial_map.h"

#include <cstdint>
#include <string>

namespace millrace::output {

enum class PageMark {
  none,
  form_feed,  // After each page, as pdftotext does.
  line,       // "--- page 2 of 5 ---" before each page.
};

struct TextOptions {
  PageMark mark = PageMark::line;
  std::uint32_t page_count = 0;  // Of the document; 0 when it is not known.
};

// The text alone.
std::string page_text(const layout::PageMap& page);
// The text as a part of the document's, with its mark and an end of line.
std::string page_text(const layout::PageMap& page, TextOptions options);
// Stands where a page would that could not be read; empty unless marks are lines.
std::string missing_page_text(std::uint32_t page, TextOptions options);

// All pages; those that are missing are named if page_count is known.
std::string document_text(const layout::SpatialMap& map, TextOptions options = {});

}  // namespace millrace::output
