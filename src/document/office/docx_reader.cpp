// DOCX: the body in order, with headings from the styles, markers from the numbering, notes at the
// end, and the first page header and footer that say something.
#include "document/office/docx_lists.h"
#include "document/office/package.h"
#include "document/office/text_builder.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace millrace::document {

namespace {

constexpr std::string_view kUsualBody = "word/document.xml";

int number_of(std::string_view text, int otherwise = 0) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A fallback says the same again, for older programs; text that was moved stands where it is now;
// and nobody sees what properties were before a change.
bool is_left_out(std::string_view name) {
  return name == "Fallback" || name == "moveFrom" || name.ends_with("PrChange");
}

// The text of a body, header, footer or notes.
class BodyHandler final : public XmlHandler {
 public:
  BodyHandler(TextBudget& budget, DocxStyles& styles, const DocxNumbering& numbering)
      : builder_(budget), styles_(styles), numbering_(numbering), counters_(numbering) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (!std::exchange(begun_, true)) ids_.note(attributes);
    // A paragraph without its mark, moved or deleted, is no item of its own.
    const bool is_gone = name == "moveFrom" || name == "del";
    if (skipping_ == 0 && in_properties_ && is_gone) properties_.mark_is_gone = true;
    if (skipping_ > 0 || is_left_out(name)) {
      ++skipping_;
      return;
    }
    if (name == "t") {
      in_text_ = true;
    } else if (name == "p") {
      builder_.begin_paragraph();
      properties_ = {};
    } else if (name == "tab" && !in_properties_) {
      builder_.add("\t");
    } else if (name == "br" || name == "cr") {
      if (attributes.get("type") == "page") {
        builder_.page_break();
      } else {
        builder_.add("\n");
      }
    } else if (name == "noBreakHyphen") {
      builder_.add("-");
    } else {
      start_structure(name, attributes);
    }
  }

  void end(std::string_view name) override {
    if (skipping_ > 0) {
      --skipping_;
      return;
    }
    if (name == "t") in_text_ = false;
    if (name == "p") builder_.end_paragraph();
    if (name == "pPr") end_properties();
    if (name == "tc") builder_.end_cell(static_cast<std::size_t>(std::max(1, span_)));
    if (name == "tbl") builder_.end_table();
  }

  void text(std::string_view text) override {
    if (in_text_ && skipping_ == 0) builder_.add(text);
  }

  Result<void> state() override { return builder_.state(); }

  TextBuilder& builder() { return builder_; }
  const std::vector<std::string>& headers() const { return headers_; }
  const std::vector<std::string>& footers() const { return footers_; }

 private:
  void start_structure(std::string_view name, const XmlAttributes& attributes) {
    if (name == "pPr") {
      in_properties_ = true;
    } else if (in_properties_ && builder_.in_paragraph()) {
      start_property(name, attributes);
    } else if (name == "tbl") {
      builder_.begin_table();
    } else if (name == "tr") {
      builder_.begin_row();
    } else if (name == "tc") {
      span_ = 1;
      builder_.begin_cell();
    } else if (name == "gridSpan") {
      span_ = number_of(attributes.get("val"), 1);
    } else if (name == "headerReference" && attributes.get("type") == "default") {
      headers_.emplace_back(part_id(attributes));
    } else if (name == "footerReference" && attributes.get("type") == "default") {
      footers_.emplace_back(part_id(attributes));
    }
  }

  std::string_view part_id(const XmlAttributes& attributes) {
    ids_.note(attributes);
    return short_id(ids_.id(attributes));
  }

  void start_property(std::string_view name, const XmlAttributes& attributes) {
    const auto value = short_id(attributes.get("val"));
    if (name == "pStyle") {
      properties_.style = value;
    } else if (name == "outlineLvl") {
      properties_.outline = number_of(value, 9);
    } else if (name == "ilvl") {
      properties_.level = std::clamp(number_of(value), 0, DocxNumbering::kLevels - 1);
    } else if (name == "numId") {
      properties_.number = value;
    } else if (name == "pageBreakBefore" && value != "0" && value != "false") {
      builder_.page_break();
    }
  }

  // What a paragraph says itself comes before its style.
  void end_properties() {
    in_properties_ = false;
    if (!builder_.in_paragraph()) return;
    const auto own = std::exchange(properties_, {});
    const auto& style = styles_.meaning(own.style);
    auto& paragraph = builder_.paragraph();
    const bool has_outline = own.outline >= 0 && own.outline < 6;
    paragraph.heading = has_outline ? own.outline + 1 : style.heading;
    const auto& number = own.number.empty() ? style.number : own.number;
    if (number.empty() || number == "0" || own.mark_is_gone) return;
    // A style may have its number from the one that it is based on, and a level of its own.
    auto level = own.level;
    if (!level) level = numbering_.level_of_style(number, own.style);
    if (!level && own.number.empty()) level = style.level;
    if (!level && own.number.empty()) {
      level = numbering_.level_of_style(number, style.numbered_style);
    }
    paragraph.list_level = level.value_or(0) + 1;
    paragraph.marker = counters_.next(number, level.value_or(0));
    // "List Bullet 2" is the first level of a list of its own.
    if (level.value_or(0) == 0 && own.number.empty() && style.depth > 1) {
      paragraph.list_level = style.depth;
    }
  }

  struct Properties {
    std::string style = {};
    std::string number = {};
    std::optional<int> level = {};
    int outline = 9;  // That of plain text.
    bool mark_is_gone = false;
  };

  TextBuilder builder_;
  DocxStyles& styles_;
  const DocxNumbering& numbering_;
  DocxCounters counters_;
  std::uint32_t skipping_ = 0;
  bool in_text_ = false;
  bool in_properties_ = false;
  int span_ = 1;
  Properties properties_;
  RelationshipIds ids_;
  bool begun_ = false;
  std::vector<std::string> headers_;
  std::vector<std::string> footers_;
};

// The text of a header or footer on one line.
std::string one_line(std::vector<FlowBlock> blocks) {
  std::string line;
  const auto add = [&](std::string_view text) {
    if (text.empty()) return;
    if (!line.empty()) line += "  ";
    line += text;
  };
  for (const auto& block : blocks) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) add(paragraph->text);
    if (const auto* table = std::get_if<TextTable>(&block)) {
      for (const auto& row : table->rows) {
        for (const auto& cell : row) add(cell);
      }
    }
  }
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

Result<std::vector<Flow>> read_docx(Package& package) {
  const auto part = main_part_of(package, kUsualBody);
  if (!package.has(part)) return refuse("office_structure", "the document has no body");
  MR_TRY(const auto links, relationships_of(package, part));
  DocxStyles styles;
  MR_TRY_VOID(package.read(links.first(package, "styles", "styles.xml"), styles));
  DocxNumbering numbering;
  MR_TRY_VOID(package.read(links.first(package, "numbering", "numbering.xml"), numbering));

  BodyHandler body(package.text(), styles, numbering);
  MR_TRY_VOID(package.read(part, body));
  MR_TRY_VOID(body.state());
  Flow flow{.blocks = body.builder().take()};
  for (const std::string kind : {"footnotes", "endnotes"}) {
    BodyHandler notes(package.text(), styles, numbering);
    MR_TRY_VOID(package.read(links.first(package, kind, kind + ".xml"), notes));
    for (auto& block : notes.builder().take()) {
      const auto* paragraph = std::get_if<Paragraph>(&block);
      if (paragraph == nullptr || !paragraph->text.empty()) flow.blocks.push_back(std::move(block));
    }
  }
  const auto running = [&](const std::vector<std::string>& ids) -> Result<std::string> {
    std::set<std::string_view> seen;
    for (const auto& id : ids) {
      const auto* target = links.target(id);
      if (target == nullptr || !seen.insert(*target).second) continue;
      BodyHandler running_text(package.text(), styles, numbering);
      MR_TRY_VOID(package.read(*target, running_text));
      auto line = one_line(running_text.builder().take());
      if (!line.empty()) return line;
    }
    return std::string();
  };
  MR_TRY(flow.header, running(body.headers()));
  MR_TRY(flow.footer, running(body.footers()));
  std::vector<Flow> flows;
  flows.push_back(std::move(flow));
  return flows;
}

}  // namespace millrace::document
