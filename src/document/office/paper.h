// Paper: flows to pages of words with boxes, by one fixed layout.
//
// Sizes and widths are constants, so equal flows give equal pages. Widths are classes of
// characters, not of a font: enough to keep words apart, lines in order and columns level.
#pragma once

#include "document/office/flow.h"
#include "layout/raw_page.h"

#include <span>
#include <string_view>
#include <vector>

namespace millrace::document {

// Each flow begins on a page of its own. page_count when there are more pages than allowed.
Result<std::vector<layout::RawPage>> lay_out(std::span<const Flow> flows, const Limits& limits);
// A text file: one width for all characters, so that columns made of blanks stay columns. A form
// feed ends a page.
Result<std::vector<layout::RawPage>> lay_out_text(std::string_view text, const Limits& limits);

// Of a text in letters of this size; tabs and line ends count as nothing.
double width_of(std::string_view text, double size_pt);

}  // namespace millrace::document
