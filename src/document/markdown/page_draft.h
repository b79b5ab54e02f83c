// PageDraft: one page as lines with what makes a heading, kept until the whole document is known.
//
// What is body text, how large headings are and what repeats on every page shows only when all
// pages have been seen. A draft has the page's text and little more, so that all of them fit where
// not even a tenth of the spatial maps would.
#pragma once

#include "document/read/pdf_file.h"
#include "layout/page.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::document {

struct DraftTextLine {
  std::string text = {};
  float x0 = 0;  // Fractions of the page.
  float x1 = 0;
  float y0 = 0;
  float y1 = 0;
  float size_pt = 0;  // Of its letters; 0: not known.
  bool bold = false;  // All of it.
  bool fixed = false;
};

struct PageDraftBlock {
  layout::BlockKind kind = layout::BlockKind::text;
  std::vector<DraftTextLine> lines = {};            // Not of tables.
  std::vector<std::vector<std::string>> rows = {};  // Texts of cells, of tables only.
};

struct PageDraft {
  std::uint32_t page = 0;
  bool recognised = false;  // Sizes are guesses then.
  double width_pt = 0;
  std::vector<PageDraftBlock> blocks = {};
};

// `content` has the fonts of the words; null for a page that was recognised.
PageDraft draft_of(const layout::PageMap& map, const PdfPageContent* content);

// The blocks at the edges of a page, enough to see what repeats; `blocks` says which they are.
struct PageEdges {
  layout::PageMap map = {};
  std::vector<std::uint32_t> blocks = {};
};
Result<PageEdges> edges_of(const layout::PageMap& map);

}  // namespace millrace::document
