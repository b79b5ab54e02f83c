// Square boxes: check boxes that a PDF page with a text layer draws with lines, and whether there
// is something in them.
//
// Four lines that make a square of about the height of the word behind it. It is no box when its
// lines go on (a table's cell), another square stands right beside it (a field of a date), a word
// is printed in it, or it is dark all over (a bullet, a legend of a chart) without a tick in white.
#pragma once

#include "document/read/page_ink.h"
#include "layout/geometry.h"

#include <span>
#include <string>
#include <vector>

namespace millrace::document {

struct PdfWord;

struct SquareBox {
  layout::Box box = {};  // Points, as those of words.
  bool checked = false;
};

// `pictures`: where images lie on the page; a small one may be the tick. In no order.
std::vector<SquareBox> find_square_boxes(const PageInk& ink, std::span<const PdfWord> words,
                                         std::span<const layout::Box> pictures);

}  // namespace millrace::document
