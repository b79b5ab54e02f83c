// ALTO 4.4: text and places as libraries and archives keep them, page by page.
//
// begin, one page or more, end: as in hocr.h, one page in memory is enough. Pixels of the upright
// page. All blocks are in the PrintSpace in reading order; what kind they are says a LayoutTag.
// A table is a ComposedBlock with a TextBlock for each cell. A word that a line end divides is
// written as its two parts (HypPart1, HYP, HypPart2), each with the whole.
#pragma once

#include "layout/page.h"
#include "layout/spatial_map.h"
#include "output/document_info.h"

#include <string>

namespace millrace::output {

// Pages refer to info.engines, so these must be known before the first page.
std::string alto_begin(const DocumentInfo& info);
std::string alto_page(const layout::PageMap& page, const DocumentInfo& info);
std::string alto_end();

// All of it. The schema wants a page at least; a map without any gives a Layout without any.
std::string alto(const layout::SpatialMap& map, const DocumentInfo& info);

}  // namespace millrace::output
