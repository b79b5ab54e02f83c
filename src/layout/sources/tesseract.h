// Tesseract's words: as its API reports them, and as its TSV files have them.
#pragma once

#include "layout/raw_page.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct TesseractWord {
  double left = 0;  // Pixels of the image that it read.
  double top = 0;
  double width = 0;
  double height = 0;
  double conf = -1;  // 0 to 100; -1 when there is none.
  std::string text = {};
};

// `info` describes the upright page. `turn_deg` is the clockwise turn that the image still needs; 0
// when it was turned before it was read.
Result<RawPage> from_tesseract(PageInfo info, std::span<const TesseractWord> words,
                               int turn_deg = 0);

struct TsvOptions {
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;
  double dpi = 0;
  std::string engine = "tesseract";
  PageLimits limits = {};
};

// The pages of a TSV file: level, page_num, block_num, par_num, line_num, word_num, left, top,
// width, height, conf, text. Words are the rows of level 5, page sizes those of level 1.
// invalid_argument with the line: "line 17: conf must be a number".
Result<std::vector<RawPage>> parse_tesseract_tsv(std::string_view text,
                                                 const TsvOptions& options = {});

}  // namespace millrace::layout
