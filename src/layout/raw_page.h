// RawPage: what a source said of one page, in our coordinates, before anybody has put it in order.
//
// Sources make these (sources/); arrange() takes them. clean() is the border: whatever text an
// engine or a text layer produced, behind it there are words and nothing else.
#pragma once

#include "layout/page.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct RawWord {
  std::string text;
  Box box = {};
  std::optional<Quad> poly = {};
  std::optional<double> conf = {};
};

struct RawPage {
  PageInfo info = {};
  std::vector<RawWord> words = {};
};

// Text without controls and with U+FFFD for what is not UTF-8, cut at white space: pieces share the
// box by their length. What has no character left is dropped. Boxes are rounded and put right when
// their corners are swapped. invalid_argument when there is more of anything than the limits allow.
Result<RawPage> clean(RawPage page, const PageLimits& limits = {});

// The words of a text by the same rules.
std::vector<std::string> words_in(std::string_view text);

// Words whose boxes and polygons are in the numbers of `frame` become words of a page. Those that
// lie outside what is visible are left out. invalid_argument for a frame or a box that is none.
Result<RawPage> to_raw_page(PageInfo info, const Frame& frame, std::vector<RawWord> words);

}  // namespace millrace::layout
