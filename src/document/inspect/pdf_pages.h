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

// In order. Refusals: pdf_page_tree, page_count, page_size, no_pages. Flags a declared number of
// pages that is not the real one.
Result<std::vector<PdfPage>> pages_of(QPDF& pdf, Findings& findings, const Limits& limits);

}  // namespace millrace::document
