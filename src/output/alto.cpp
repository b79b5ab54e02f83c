#include "output/alto.h"

#include "base/json.h"
#include "layout/confidence.h"
#include "output/divided_words.h"
#include "output/line_run.h"
#include "output/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace millrace::output {
namespace {

using layout::BlockKind;
using layout::PageMap;
using layout::WordRange;

constexpr auto kKinds = std::to_array<BlockKind>(
    {BlockKind::text, BlockKind::heading, BlockKind::list, BlockKind::table, BlockKind::header,
     BlockKind::footer, BlockKind::margin});

void append_element(std::string& out, std::string_view name, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "<{}>", name);
  append_xml(out, text);
  fmt::format_to(std::back_inserter(out), "</{}>", name);
}

void append_box(std::string& out, const PixelBox& px) {
  fmt::format_to(std::back_inserter(out), " HPOS=\"{}\" VPOS=\"{}\" WIDTH=\"{}\" HEIGHT=\"{}\"",
                 px.x0, px.y0, px.width(), px.height());
}

std::string share(double value) { return json_number(std::round(value * 1e4) / 1e4); }

// -- the head --

void append_processing(std::string& out, std::size_t number, std::string_view category,
                       std::string_view engine, const DocumentInfo& info) {
  const auto [name, version] = split_engine(engine);
  fmt::format_to(std::back_inserter(out), "  <Processing ID=\"processing_{}\">", number);
  append_element(out, "processingCategory", category);
  if (info.processed_at) append_element(out, "processingDateTime", to_text(*info.processed_at));
  out += "<processingSoftware>";
  append_element(out, "softwareName", name);
  if (!version.empty()) append_element(out, "softwareVersion", version);
  out += "</processingSoftware></Processing>\n";
}

void append_description(std::string& out, const DocumentInfo& info) {
  out += " <Description>\n  <MeasurementUnit>pixel</MeasurementUnit>\n  <sourceImageInformation>";
  append_element(out, "fileName", info.source.file_name);
  if (is_sha256(info.source.sha256)) {
    out += "<fileIdentifier fileIdentifierLocation=\"sha256\">" + info.source.sha256 +
           "</fileIdentifier>";
  }
  if (!info.document_id.empty()) append_element(out, "documentIdentifier", info.document_id);
  out += "</sourceImageInformation>\n";
  // Processing, because OCRProcessing is deprecated since 4.0.
  append_processing(out, 0, "postOperation", info.generator, info);
  for (std::size_t i = 0; i < info.engines.size(); ++i) {
    append_processing(out, i + 1, "contentGeneration", info.engines[i], info);
  }
  out += " </Description>\n";
}

std::string processing_of(const PageMap& page, const DocumentInfo& info) {
  const auto at = std::ranges::find(info.engines, page.info.engine);
  if (at == info.engines.end()) return "processing_0";
  return fmt::format("processing_{} processing_0", at - info.engines.begin() + 1);
}

// -- words and lines --

struct Writer {
  const PageMap& page;
  const DividedWords& divided;
  std::string out = {};

  void string(std::uint32_t index) {
    const auto& word = page.words[index];
    auto px = to_pixels(word.box, page.info);
    std::string_view content = word.text;
    const auto* part = divided.find(index);
    if (part != nullptr && part->first) {
      content.remove_suffix(part->hyphen.size());
      px.x1 = px.x0 + static_cast<int>(std::lround(px.width() * part->share));
    }
    fmt::format_to(std::back_inserter(out), "      <String ID=\"word_{}_{}\"", page.info.page,
                   index + 1);
    append_box(out, px);
    if (word.conf) append_attribute(out, "WC", share(*word.conf));
    append_attribute(out, "CONTENT", content);
    if (part != nullptr) {
      append_attribute(out, "SUBS_TYPE", part->first ? "HypPart1" : "HypPart2");
      append_attribute(out, "SUBS_CONTENT", part->whole);
    }
    if (!word.poly) {
      out += "/>\n";
      return;
    }
    std::string points;
    for (const auto& point : *word.poly) {
      const auto at =
          to_pixels({.x0 = point.x, .y0 = point.y, .x1 = point.x, .y1 = point.y}, page.info);
      points += fmt::format("{}{},{}", points.empty() ? "" : " ", at.x0, at.y0);
    }
    out += "><Shape><Polygon POINTS=\"" + points + "\"/></Shape></String>\n";
  }

  void space(std::uint32_t before) {
    const auto left = to_pixels(page.words[before].box, page.info);
    const auto right = to_pixels(page.words[before + 1].box, page.info);
    const auto begin = std::min(left.x1, right.x1);
    out += "      <SP";
    append_box(out, {.x0 = begin,
                     .y0 = std::min(left.y0, right.y0),
                     .x1 = std::max(begin, right.x0),
                     .y1 = std::max(left.y1, right.y1)});
    out += "/>\n";
  }

  void hyphen(std::uint32_t index) {
    const auto* part = divided.find(index);
    if (part == nullptr || !part->first) return;
    auto px = to_pixels(page.words[index].box, page.info);
    px.x0 += static_cast<int>(std::lround(px.width() * part->share));
    out += "      <HYP";
    append_box(out, px);
    append_attribute(out, "CONTENT", part->hyphen);
    out += "/>\n";
  }

  // Words of one line.
  void line(WordRange words, std::string_view id) {
    const auto run = run_of(page, words);
    const auto px = to_pixels(run.box, page.info);
    out += "     <TextLine";
    append_attribute(out, "ID", id);
    append_box(out, px);
    if (run.baseline) {
      const auto y = px.y1 + run.baseline->offset;
      fmt::format_to(std::back_inserter(out), " BASELINE=\"{},{} {},{}\"", px.x0, std::lround(y),
                     px.x1, std::lround(y + run.baseline->slope * px.width()));
    }
    if (run.right_to_left) append_attribute(out, "BASEDIRECTION", "rtl");
    out += ">\n";
    for (auto i = words.first; i <= words.last; ++i) {
      string(i);
      const bool spaced = i < words.last && page.words[i].bytes.end < page.words[i + 1].bytes.begin;
      if (spaced) space(i);
    }
    hyphen(words.last);
    out += "     </TextLine>\n";
  }

  // Words of one block, line by line.
  void text_block(WordRange words, std::string_view id, BlockKind kind) {
    auto box = page.words[words.first].box;
    for (auto i = words.first; i <= words.last; ++i) box = layout::unite(box, page.words[i].box);
    const auto run = run_of(page, {.first = words.first, .last = words.first});
    out += "    <TextBlock";
    append_attribute(out, "ID", id);
    append_box(out, to_pixels(box, page.info));
    append_attribute(out, "STYLEREFS", run.right_to_left ? "paragraph_rtl" : "paragraph_ltr");
    append_attribute(out, "TAGREFS", fmt::format("kind_{}", layout::to_string(kind)));
    if (run.angle_deg != 0) append_attribute(out, "ROTATION", std::to_string(run.angle_deg));
    out += ">\n";
    for (auto first = words.first; first <= words.last;) {
      auto last = first;
      while (last < words.last && page.words[last + 1].line == page.words[first].line) ++last;
      line({.first = first, .last = last}, fmt::format("line_{}_{}", page.info.page, first + 1));
      first = last + 1;
    }
    out += "    </TextBlock>\n";
  }

  void block(std::uint32_t index) {
    const auto& block = page.blocks[index];
    const auto id = fmt::format("block_{}_{}", page.info.page, index + 1);
    const auto* table = table_of(index);
    if (table == nullptr) {
      text_block(block.words, id, block.kind);
      return;
    }
    out += "    <ComposedBlock";
    append_attribute(out, "ID", id);
    append_box(out, to_pixels(block.box, page.info));
    out += " TAGREFS=\"kind_table\" TYPE=\"table\">\n";
    for (const auto& cell : table->cells) {
      text_block(cell.words, fmt::format("{}_r{}_c{}", id, cell.row + 1, cell.column + 1),
                 BlockKind::table);
    }
    out += "    </ComposedBlock>\n";
  }

  // Only if its cells are all of the block: no word may be lost.
  const layout::Table* table_of(std::uint32_t block) const {
    const auto table = std::ranges::find(page.tables, block, &layout::Table::block);
    if (table == page.tables.end()) return nullptr;
    auto next = page.blocks[block].words.first;
    for (const auto& cell : table->cells) {
      if (cell.words.first != next) return nullptr;
      next = cell.words.last + 1;
    }
    return next == page.blocks[block].words.last + 1 ? &*table : nullptr;
  }
};

}  // namespace

std::string alto_begin(const DocumentInfo& info) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<alto xmlns=\"http://www.loc.gov/standards/alto/ns-v4#\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.loc.gov/standards/alto/ns-v4# "
      "http://www.loc.gov/standards/alto/v4/alto-4-4.xsd\" SCHEMAVERSION=\"4.4\">\n";
  append_description(out, info);
  out +=
      " <Styles>\n"
      "  <ParagraphStyle ID=\"paragraph_ltr\" ALIGN=\"Left\"/>\n"
      "  <ParagraphStyle ID=\"paragraph_rtl\" ALIGN=\"Right\"/>\n"
      " </Styles>\n <Tags>\n";
  for (const auto kind : kKinds) {
    const auto name = layout::to_string(kind);
    out += fmt::format("  <LayoutTag ID=\"kind_{}\" TYPE=\"block\" LABEL=\"{}\"/>\n", name, name);
  }
  return out + " </Tags>\n <Layout>\n";
}

std::string alto_page(const PageMap& page, const DocumentInfo& info) {
  const auto divided = DividedWords(page);
  Writer writer{.page = page, .divided = divided};
  auto& out = writer.out;
  out += fmt::format("  <Page ID=\"page_{}\" PHYSICAL_IMG_NR=\"{}\" WIDTH=\"{}\" HEIGHT=\"{}\"",
                     page.info.page, page.info.page, page.info.width_px, page.info.height_px);
  append_attribute(out, "PROCESSINGREFS", processing_of(page, info));
  const auto sure = layout::confidence_of(page);
  if (sure.low + sure.medium + sure.high > 0) append_attribute(out, "PC", share(sure.mean));
  if (page.info.estimated) append_attribute(out, "QUALITY_DETAIL", "boxes are estimated");
  if (is_language_tag(info.language)) append_attribute(out, "LANG", info.language);
  out += fmt::format(
      ">\n   <PrintSpace ID=\"print_{}\" HPOS=\"0\" VPOS=\"0\" WIDTH=\"{}\" HEIGHT=\"{}\">\n",
      page.info.page, page.info.width_px, page.info.height_px);
  for (std::uint32_t i = 0; i < page.blocks.size(); ++i) writer.block(i);
  out += "   </PrintSpace>\n  </Page>\n";
  return std::move(out);
}

std::string alto_end() { return " </Layout>\n</alto>\n"; }

std::string alto(const layout::SpatialMap& map, const DocumentInfo& info) {
  auto out = alto_begin(info);
  for (const auto& page : map.pages) out += alto_page(page, info);
  return out + alto_end();
}

}  // namespace millrace::output
