// LlamaParse: the JSON of a parse with items (v2: expand=items,metadata; v1: result/json, with or
// without extract_layout).
//
// It gives paragraphs, headings, lists and tables in reading order, with boxes in points, and no
// words: those are estimated within their item's box, and the page says so. Pages fail one by one,
// also in a job that is COMPLETED.
#pragma once

#include "layout/page.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct LlamaParseOptions {
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;
  double dpi = 150;  // At which the page is thought of as pixels.
  std::string engine = "llamaparse";
  PageLimits limits = {};
};

struct LlamaParsePage {
  std::uint32_t page = 1;
  Result<PageMap> content;  // unavailable when the service could not read the page.
};

// invalid_argument when the text is no such answer, or the items were not asked for.
Result<std::vector<LlamaParsePage>> parse_llamaparse(std::string_view text,
                                                     const LlamaParseOptions& options = {});

}  // namespace millrace::layout
