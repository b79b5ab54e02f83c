// Office files: flows of paragraphs and tables, as src/document/office reads them. Slides and
// sheets are pages; a text has pages where its writer broke them.
#include "document/bounded/refusal.h"
#include "document/markdown/escape.h"
#include "document/markdown/readers.h"
#include "document/office/list_marker.h"
#include "document/office/package.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::document {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

// Markdown of a text of a flow; line ends are breaks.
std::string with_breaks(std::string_view text) {
  std::string out;
  text = trimmed(text);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string line(trimmed(text.substr(0, end)));
    std::ranges::replace(line, '\t', ' ');
    if (!out.empty()) out += "\\\n";
    append_escaped(out, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class FlowWriter {
 public:
  FlowWriter(MarkdownWriter& out, bool levels_are_items)
      : out_(out), levels_are_items_(levels_are_items) {}

  void write(const Paragraph& paragraph) {
    if (trimmed(paragraph.text).empty()) return;
    has_text_ = true;
    if (paragraph.heading > 0) return write_heading(paragraph);
    const auto level = static_cast<std::size_t>(std::max(paragraph.list_level, 0));
    if (level == 0) {
      end_lists();
      return out_.paragraph(with_breaks(paragraph.text));
    }
    const bool is_item = !paragraph.marker.empty() || levels_are_items_;
    if (is_item) {
      open_lists(level);
      begin_item(paragraph);
    } else if (lists_ == 0) {
      return out_.paragraph(with_breaks(paragraph.text));
    } else {
      out_.paragraph(with_breaks(paragraph.text));
    }
  }

  void write(const TextTable& table) {
    end_lists();
    TableRows rows;
    std::size_t columns = 0;
    for (const auto& row : table.rows) {
      std::vector<std::string> cells;
      for (const auto& cell : row) cells.push_back(with_breaks(cell));
      if (std::ranges::all_of(cells, &std::string::empty)) continue;
      columns = std::max(columns, cells.size());
      rows.push_back(std::move(cells));
    }
    if (rows.empty()) return;
    has_text_ = true;
    if (columns > 1) return out_.table(rows);
    // A frame around a text.
    for (const auto& row : rows) {
      for (const auto& cell : row) out_.paragraph(cell);
    }
  }

  void end_lists() {
    for (; lists_ > 0; --lists_) out_.end_list();
  }
  bool has_text() const { return has_text_; }

 private:
  void write_heading(const Paragraph& paragraph) {
    end_lists();
    const auto broken = with_breaks(paragraph.text);
    std::string text;
    for (std::string_view rest = broken; !rest.empty();) {
      const auto end = std::min(rest.find("\\\n"), rest.size());
      text += rest.substr(0, end);
      if (end == rest.size()) break;
      text += ' ';
      rest.remove_prefix(end + 2);
    }
    const bool numbered = !paragraph.marker.empty() && paragraph.marker != kBulletMarker;
    if (numbered) text.insert(0, escaped(paragraph.marker) + " ");
    out_.heading(paragraph.heading, text);
  }

  void open_lists(std::size_t level) {
    for (; lists_ > level; --lists_) out_.end_list();
    for (; lists_ < level; ++lists_) out_.begin_list();
  }

  void begin_item(const Paragraph& paragraph) {
    const std::string_view marker = paragraph.marker;
    const auto digits = std::min(marker.find_first_not_of("0123456789"), marker.size());
    const auto behind = marker.substr(digits);
    const bool number =
        digits > 0 && digits < 9 && (behind.empty() || behind == "." || behind == ")");
    out_.begin_item(number ? std::string(marker.substr(0, digits)) + "." : "-");
    // Letters and clauses are no markers in Markdown, and somebody may refer to them.
    const bool told = !number && !marker.empty() && marker != kBulletMarker;
    auto text = with_breaks(paragraph.text);
    if (told) text.insert(0, escaped(marker) + " ");
    out_.paragraph(text);
  }

  MarkdownWriter& out_;
  bool levels_are_items_;
  std::size_t lists_ = 0;
  bool has_text_ = false;
};

using Reader = Result<std::vector<Flow>> (*)(Package&);

Reader reader_of(std::string_view kind) {
  if (kind == "docx") return read_docx;
  if (kind == "xlsx") return read_xlsx;
  if (kind == "pptx") return read_pptx;
  if (kind == "odt" || kind == "ods" || kind == "odp") return read_odf;
  return nullptr;
}

// dc:title and dc:language of the properties.
struct PropertiesHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes&) override {
    target = name == "title" ? &title : name == "language" ? &language : nullptr;
  }
  void end(std::string_view) override { target = nullptr; }
  void text(std::string_view text) override {
    constexpr std::size_t kMax = 2'000;
    if (target != nullptr && target->size() < kMax) *target += text;
  }

  std::string title;
  std::string language;
  std::string* target = nullptr;
};

void note_running_text(const Flow& flow, ParseReport& report) {
  for (const auto* line : {&flow.header, &flow.footer}) {
    auto text = clean_title(*line);
    if (!text.empty()) report.running_text.push_back(std::move(text));
  }
}

// A text: pages where it has breaks. Breaks at the edges and twice in a row make no empty pages.
Result<void> write_text_flow(const Flow& flow, ReadContext& context) {
  const auto is_break = [](const FlowBlock& block) {
    return std::holds_alternative<PageBreak>(block);
  };
  context.report.has_pages = std::ranges::any_of(flow.blocks, is_break);
  if (context.report.has_pages) context.out.page(1);
  FlowWriter writer(context.out, false);
  bool broken = false;
  bool written = false;
  for (const auto& block : flow.blocks) {
    if (is_break(block)) {
      broken = written;
      continue;
    }
    const auto* paragraph = std::get_if<Paragraph>(&block);
    if (paragraph != nullptr && trimmed(paragraph->text).empty()) continue;
    if (std::exchange(broken, false)) {
      writer.end_lists();
      if (++context.report.page_count > context.limits.pages_max) {
        return refuse("page_count", "the document has more pages than are allowed");
      }
      context.out.page(context.report.page_count);
    }
    written = true;
    if (paragraph != nullptr) writer.write(*paragraph);
    if (const auto* table = std::get_if<TextTable>(&block)) writer.write(*table);
    MR_TRY_VOID(context.out.state());
  }
  writer.end_lists();
  note_running_text(flow, context.report);
  return context.out.state();
}

Result<void> write_pages(std::vector<Flow> flows, std::string_view kind, ReadContext& context) {
  context.report.has_pages = true;
  context.report.page_count = static_cast<std::uint32_t>(flows.size());
  const bool sheets = kind == "xlsx" || kind == "ods";
  std::uint32_t number = 0;
  for (auto& flow : flows) {
    context.out.page(++number);
    if (sheets) context.out.heading(2, escaped(clean_title(flow.header)));
    FlowWriter writer(context.out, kind == "pptx");
    for (const auto& block : flow.blocks) {
      if (const auto* paragraph = std::get_if<Paragraph>(&block)) writer.write(*paragraph);
      if (const auto* table = std::get_if<TextTable>(&block)) writer.write(*table);
      MR_TRY_VOID(context.out.state());
    }
    writer.end_lists();
    if (!writer.has_text()) context.report.warn("no_text", "a slide or sheet has no text");
    flow.blocks.clear();
  }
  return context.out.state();
}

}  // namespace

Result<void> read_office_file(std::string_view kind, std::string_view bytes, ReadContext& context) {
  const auto reader = reader_of(kind);
  if (reader == nullptr) {
    return fail(ErrorKind::invalid_argument, fmt::format("no office document is a {}", kind));
  }
  MR_TRY(auto package, Package::open(bytes, context.limits));
  PropertiesHandler properties;
  for (const auto* part : {"docProps/core.xml", "meta.xml"}) {
    // Properties that cannot be read say nothing about the text.
    if (!package.read(part, properties).has_value()) {
      context.report.warn("properties", "the properties of the document cannot be read");
    }
  }
  context.report.title = clean_title(properties.title);
  context.report.language = clean_title(properties.language).substr(0, 16);
  if (const auto pictures = package.pictures(); pictures > 0) {
    context.report.warn("pictures", "pictures in the document are not read", pictures);
  }
  MR_TRY(auto flows, reader(package));
  if (kind == "docx" || kind == "odt") {
    return flows.empty() ? ok() : write_text_flow(flows.front(), context);
  }
  return write_pages(std::move(flows), kind, context);
}

}  // namespace millrace::document
