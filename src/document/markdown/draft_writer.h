// DraftWriter: drafts of all pages → Markdown: headings by the sizes of letters, paragraphs joined,
// lists, code, tables; what repeats on every page is left out.
#pragma once

#include "document/markdown/page_draft.h"
#include "document/markdown/readers.h"

#include <vector>

namespace millrace::document {

// How letters are used in a document.
struct LetterSizes {
  double body_pt = 0;                 // Of most of the text; 0: not known.
  std::vector<double> headings = {};  // Larger ones, largest first.
  bool body_is_fixed = false;         // All of it is typewriter: that means nothing then.

  static LetterSizes of(const std::vector<PageDraft>& pages);
  bool is_heading_size(double size_pt) const;
  int level_of(double size_pt) const;  // 1 to 6.
};

Result<void> write_drafts(const std::vector<PageDraft>& pages, ReadContext& context);

}  // namespace millrace::document
