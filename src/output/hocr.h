// hOCR 1.2: text and places as XHTML, page by page.
//
// begin, any number of pages, end: each is text of its own, so a document of 5,000 pages needs one
// of them in memory. Blocks are ocr_carea, each with one ocr_par; rows of tables are lines. The
// text of a line is that of the page. What kind a block is stands in the property x_kind.
#pragma once

#include "layout/page.h"
#include "layout/spatial_map.h"
#include "output/document_info.h"

#include <string>

namespace millrace::output {

std::string hocr_begin(const DocumentInfo& info);
std::string hocr_page(const layout::PageMap& page, const DocumentInfo& info);
std::string hocr_end();

// All of it.
std::string hocr(const layout::SpatialMap& map, const DocumentInfo& info);

}  // namespace millrace::output
