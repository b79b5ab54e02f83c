// Running text: headers, footers and page numbers, which repeat and say nothing of their own.
#pragma once

#include "layout/page.h"

#include <span>

namespace millrace::layout {

struct RunningTextOptions {
  double zone = 0.12;        // Share of the page's height, above and below, in which to look.
  double shift_max = 0.03;   // How far a repeated block may stand from its place elsewhere.
  double pages_share = 0.6;  // Of the document's pages that must have it, and two at least.
};

// A line at the edge of the page that is nothing but a page number: "3", "- 3 -", "Page 3 of 7".
void mark_page_number(PageMap& page);

// Blocks at the edge that stand on most pages, but for numbers in them. Tables stay tables.
void mark_running_text(std::span<PageMap> pages, RunningTextOptions options = {});

}  // namespace millrace::layout
