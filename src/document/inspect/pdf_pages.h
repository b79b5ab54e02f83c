// The pages of a PDF: the tree walked without recursion, with what pages inherit.
#pragma once

#include "base/result.h"
#include "document/inspect/findings.h"
#include "document/inspect/qpdf.h"

#include <vector>

namespace millrace::document {

struct PdfPage {
  QPDFObjectHandle object;
  QPDFObjectHandle resources;  // Its own or inherited; may be null.
  double left = 0;             // What is visible, in points before the rotation.
  double bottom = 0;
  double width_pt = 0;
  double height_pt = 0;
  double user_unit = 1;
  int rotation_deg = 0;
};

struct PdfBox {
  double x0 = 0;
  double y0 = 0;
  double x1 = 612;  // Letter, which readers take when there is none.
  double y1 = 792;
};

// What is to be seen of a page, from what it has or inherits: the part of its CropBox that is in
// its MediaBox, and all of that where there is none. Never empty. As Poppler has it, which reads
// the page: a CropBox that is wider than the MediaBox counts as just as wide, one that is higher as
// just as high.
PdfBox visible_box(QPDFObjectHandle media_box, QPDFObjectHandle crop_box);

// In order. Refusals: pdf_page_tree, page_count, page_size, no_pages. Flags a declared number of
// pages that is not the real one.
Result<std::vector<PdfPage>> pages_of(QPDF& pdf, Findings& findings, const Limits& limits);

}  // namespace millrace::document
