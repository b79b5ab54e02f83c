#include "output/words.h"

#include "base/json.h"
#include "layout/code_points.h"
#include "output/csv_text.h"
#include "output/line_run.h"

#include <fmt/format.h>

namespace millrace::output {

std::string words_json(const layout::PageMap& page) {
  const layout::OffsetIndex offsets(page.text);
  std::string out;
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    const auto& word = page.words[i];
    const auto px = to_pixels(word.box, page.info);
    out += fmt::format(R"({{"page":{},"i":{},"text":{},"bbox":[{},{},{},{}],)", page.info.page, i,
                       json_quote(word.text), json_number(word.box.x0), json_number(word.box.y0),
                       json_number(word.box.x1), json_number(word.box.y1));
    out += fmt::format(R"("px":[{},{},{},{}],"conf":{},"line":{},"block":{},)", px.x0, px.y0, px.x1,
                       px.y1, word.conf ? json_number(*word.conf) : "null", word.line, word.block);
    out += fmt::format(
        "\"kind\":\"{}\",\"char\":[{},{}]}}\n", layout::to_string(page.blocks[word.block].kind),
        offsets.code_points_before(word.bytes.begin), offsets.code_points_before(word.bytes.end));
  }
  return out;
}

std::string words_csv_header() {
  return csv_row({"page", "word", "text", "conf", "x0", "y0", "x1", "y1", "px_left", "px_top",
                  "px_width", "px_height", "line", "block", "kind", "char_begin", "char_end"});
}

std::string words_csv(const layout::PageMap& page) {
  const layout::OffsetIndex offsets(page.text);
  std::string out;
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    const auto& word = page.words[i];
    const auto px = to_pixels(word.box, page.info);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", page.info.page, i,
                       csv_field(word.text), word.conf ? json_number(*word.conf) : "",
                       json_number(word.box.x0), json_number(word.box.y0), json_number(word.box.x1),
                       json_number(word.box.y1), px.x0, px.y0, px.width(), px.height(), word.line,
                       word.block, layout::to_string(page.blocks[word.block].kind),
                       offsets.code_points_before(word.bytes.begin),
                       offsets.code_points_before(word.bytes.end));
  }
  return out;
}

}  // namespace millrace::output
