#include "output/hocr.h"

#include "base/json.h"
#include "output/line_run.h"
#include "output/xml_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>

namespace millrace::output {
namespace {

using layout::PageMap;

constexpr std::string_view kCapabilities =
    "ocr_page ocr_carea ocr_par ocr_line ocrx_word ocrp_wconf ocrp_poly ocrp_dir ocrp_lang";

void append_meta(std::string& out, std::string_view name, std::string_view content) {
  out += "  <meta";
  append_attribute(out, "name", name);
  append_attribute(out, "content", content);
  out += "/>\n";
}

void append_language(std::string& out, std::string_view language) {
  if (!is_language_tag(language)) return;
  append_attribute(out, "xml:lang", language);
  append_attribute(out, "lang", language);
}

// Properties are parted by semicolons and strings end at a quote: both are written as in URLs.
std::string image_property(std::string_view file_name) {
  std::string out = "\"";
  for (const char c : file_name) {
    if (std::string_view("\";\\%").contains(c)) {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string bbox(const layout::Box& box, const PageMap& page) {
  const auto px = to_pixels(box, page.info);
  return fmt::format("bbox {} {} {} {}", px.x0, px.y0, px.x1, px.y1);
}

// Without zeros behind, so that equal pages give short and equal bytes.
std::string rounded(double value, double digits) {
  return json_number(std::round(value * digits) / digits);
}

std::string line_properties(const PageMap& page, const LineRun& run) {
  auto out = bbox(run.box, page);
  if (run.baseline) {
    out += fmt::format("; baseline {} {}", rounded(run.baseline->slope, 1e4),
                       rounded(run.baseline->offset, 1));
  }
  if (run.angle_deg != 0) out += fmt::format("; textangle {}", run.angle_deg);
  return out;
}

std::string word_properties(const PageMap& page, const layout::Word& word) {
  auto out = bbox(word.box, page);
  if (word.poly) {
    out += "; poly";
    for (const auto& point : *word.poly) {
      const auto px =
          to_pixels({.x0 = point.x, .y0 = point.y, .x1 = point.x, .y1 = point.y}, page.info);
      out += fmt::format(" {} {}", px.x0, px.y0);
    }
  }
  if (word.conf) out += fmt::format("; x_wconf {}", std::lround(*word.conf * 100));
  return out;
}

void append_word(std::string& out, const PageMap& page, std::uint32_t index) {
  const auto& word = page.words[index];
  out += "<span class=\"ocrx_word\"";
  append_attribute(out, "id", fmt::format("word_{}_{}", page.info.page, index + 1));
  append_attribute(out, "title", word_properties(page, word));
  out += '>';
  append_xml(out, word.text);
  out += "</span>";
}

void append_line(std::string& out, const PageMap& page, std::uint32_t index) {
  const auto words = page.lines[index].words;
  const auto run = run_of(page, words);
  out += "    <span class=\"ocr_line\"";
  append_attribute(out, "id", fmt::format("line_{}_{}", page.info.page, index + 1));
  if (run.right_to_left) append_attribute(out, "dir", "rtl");
  append_attribute(out, "title", line_properties(page, run));
  out += '>';
  for (auto i = words.first; i <= words.last; ++i) {
    append_word(out, page, i);
    const bool spaced = i < words.last && page.words[i].bytes.end < page.words[i + 1].bytes.begin;
    if (spaced) out += ' ';
  }
  out += "</span>\n";
}

void append_block(std::string& out, const PageMap& page, std::uint32_t index) {
  const auto& block = page.blocks[index];
  const auto box = bbox(block.box, page);
  out += "  <div class=\"ocr_carea\"";
  append_attribute(out, "id", fmt::format("block_{}_{}", page.info.page, index + 1));
  append_attribute(out, "title", fmt::format("{}; x_kind {}", box, layout::to_string(block.kind)));
  out += ">\n   <p class=\"ocr_par\"";
  append_attribute(out, "id", fmt::format("par_{}_{}", page.info.page, index + 1));
  append_attribute(out, "title", box);
  out += ">\n";
  for (auto line = block.first_line; line <= block.last_line; ++line) append_line(out, page, line);
  out += "   </p>\n  </div>\n";
}

std::string page_properties(const PageMap& page, const DocumentInfo& info) {
  auto out =
      fmt::format("image {}; bbox 0 0 {} {}; ppageno {}", image_property(info.source.file_name),
                  page.info.width_px, page.info.height_px, page.info.page - 1);
  if (page.info.dpi > 0) {
    const auto dpi = std::lround(page.info.dpi);
    out += fmt::format("; scan_res {} {}", dpi, dpi);
  }
  if (page.info.estimated) out += "; x_boxes estimated";
  return out;
}

}  // namespace

std::string hocr_begin(const DocumentInfo& info) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" "
      "\"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n"
      "<html xmlns=\"http://www.w3.org/1999/xhtml\"";
  append_language(out, info.language);
  out += ">\n <head>\n  <title>";
  append_xml(out, info.shown_title());
  out +=
      "</title>\n"
      "  <meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\"/>\n";
  auto system = info.generator;
  for (const auto& engine : info.engines) system += " " + engine;
  append_meta(out, "ocr-system", system);
  append_meta(out, "ocr-capabilities", kCapabilities);
  if (info.page_count != 0)
    append_meta(out, "ocr-number-of-pages", std::to_string(info.page_count));
  if (is_language_tag(info.language)) append_meta(out, "ocr-langs", info.language);
  out += " </head>\n <body>\n";
  return out;
}

std::string hocr_page(const PageMap& page, const DocumentInfo& info) {
  std::string out = " <div class=\"ocr_page\"";
  append_attribute(out, "id", fmt::format("page_{}", page.info.page));
  append_attribute(out, "title", page_properties(page, info));
  out += ">\n";
  for (std::uint32_t i = 0; i < page.blocks.size(); ++i) append_block(out, page, i);
  out += " </div>\n";
  return out;
}

std::string hocr_end() { return " </body>\n</html>\n"; }

std::string hocr(const layout::SpatialMap& map, const DocumentInfo& info) {
  auto out = hocr_begin(info);
  for (const auto& page : map.pages) out += hocr_page(page, info);
  return out + hocr_end();
}

}  // namespace millrace::output
