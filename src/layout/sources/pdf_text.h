// Words of a PDF's text layer.
//
// A PDF counts in points from the bottom left, shows its CropBox only and may turn the page by
// /Rotate. Libraries that have done this already say so by origin and rotate.
#pragma once

#include "layout/raw_page.h"

#include <span>
#include <string>

namespace millrace::layout {

struct PdfPage {
  std::uint32_t page = 1;
  Box crop = {};                        // Points.
  double rotate = 0;                    // Clockwise, a multiple of 90, also negative.
  Origin origin = Origin::bottom_left;  // Of crop and of the words.
  double dpi = 150;                     // At which the page is thought of as pixels.
  std::string engine = "pdf-text";
};

struct PdfTextWord {
  std::string text;
  Box box;  // Points, in the page's own directions, before /Rotate.
};

// Of the upright page. invalid_argument when the page has no size.
Result<PageInfo> pdf_page_info(const PdfPage& page);

// Confidence is 1: a text layer is exact, or not to be used (judge_text_layer).
Result<RawPage> from_pdf_text(const PdfPage& page, std::span<const PdfTextWord> words);

}  // namespace millrace::layout
