// DOCX: the body in order, with headings from the styles, markers from the numbering, notes at the
// end, and the first page header and footer that say something.
#include "document/office/package.h"
#include "document/office/text_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace millrace::document {

namespace {

constexpr std::string_view kBody = "word/document.xml";

int number_of(std::string_view text, int otherwise = 0) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// styleId → level of heading.
struct StyleHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "style") {
      id = attributes.get("styleId");
    } else if (name == "name") {
      auto label = std::string(attributes.get("val"));
      std::ranges::transform(label, label.begin(), [](unsigned char c) { return tolower(c); });
      if (label.starts_with("heading "))
        headings[id] = number_of(std::string_view(label).substr(8));
      if (label == "title") headings[id] = 1;
    } else if (name == "outlineLvl") {
      headings.try_emplace(id, number_of(attributes.get("val")) + 1);
    }
  }
  void end(std::string_view) override {}
  void text(std::string_view) override {}

  std::string id;
  std::map<std::string, int, std::less<>> headings;
};

// numId → abstract numbering → format of each level.
struct NumberingHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "abstractNum") {
      abstract = attributes.get("abstractNumId");
    } else if (name == "lvl") {
      level = number_of(attributes.get("ilvl"));
    } else if (name == "numFmt" && !abstract.empty()) {
      formats.emplace(std::pair(abstract, level), attributes.get("val"));
    } else if (name == "num") {
      number = attributes.get("numId");
      abstract.clear();
    } else if (name == "abstractNumId") {
      abstract_of.emplace(number, attributes.get("val"));
    }
  }
  void end(std::string_view) override {}
  void text(std::string_view) override {}

  std::string_view format(const std::string& num, int at) const {
    const auto found = abstract_of.find(num);
    if (found == abstract_of.end()) return "bullet";
    const auto entry = formats.find({found->second, at});
    return entry == formats.end() ? std::string_view("bullet") : entry->second;
  }

  std::string abstract;
  std::string number;
  int level = 0;
  std::map<std::pair<std::string, int>, std::string> formats;
  std::map<std::string, std::string> abstract_of;
};

std::string marker_of(std::string_view format, int count) {
  if (format == "bullet" || format == "none") return "•";
  if (format == "lowerLetter" || format == "upperLetter") {
    const char first = format == "lowerLetter" ? 'a' : 'A';
    return fmt::format("{}.", static_cast<char>(first + (count - 1) % 26));
  }
  return fmt::format("{}.", count);
}

// The text of a body, header, footer or notes.
class BodyHandler final : public XmlHandler {
 public:
  BodyHandler(TextBudget& budget, const StyleHandler& styles, const NumberingHandler& numbering)
      : builder_(budget), styles_(styles), numbering_(numbering) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    // A fallback says the same again, for older programs.
    if (name == "Fallback" || skipping_ > 0) {
      ++skipping_;
      return;
    }
    if (name == "t") {
      in_text_ = true;
    } else if (name == "p") {
      builder_.begin_paragraph();
      list_number_.clear();
      list_level_ = 0;
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
      headers_.emplace_back(attributes.get_exactly("r:id"));
    } else if (name == "footerReference" && attributes.get("type") == "default") {
      footers_.emplace_back(attributes.get_exactly("r:id"));
    }
  }

  void start_property(std::string_view name, const XmlAttributes& attributes) {
    const auto value = attributes.get("val");
    if (name == "pStyle") {
      const auto found = styles_.headings.find(value);
      if (found != styles_.headings.end()) builder_.paragraph().heading = found->second;
    } else if (name == "outlineLvl") {
      const auto level = number_of(value, 9);
      if (level < 6) builder_.paragraph().heading = level + 1;
    } else if (name == "ilvl") {
      list_level_ = std::clamp(number_of(value), 0, 8);
    } else if (name == "numId") {
      list_number_ = value;
    } else if (name == "pageBreakBefore" && value != "0" && value != "false") {
      builder_.page_break();
    }
  }

  void end_properties() {
    in_properties_ = false;
    if (!builder_.in_paragraph() || list_number_.empty() || list_number_ == "0") return;
    constexpr std::size_t kListsMax = 10'000;
    if (counters_.size() > kListsMax) counters_.clear();
    const auto count = ++counters_[{list_number_, list_level_}];
    // Deeper levels begin again below the next item.
    for (int deeper = list_level_ + 1; deeper <= 8; ++deeper) {
      counters_.erase({list_number_, deeper});
    }
    auto& paragraph = builder_.paragraph();
    paragraph.list_level = list_level_ + 1;
    paragraph.marker = marker_of(numbering_.format(list_number_, list_level_), count);
  }

  TextBuilder builder_;
  const StyleHandler& styles_;
  const NumberingHandler& numbering_;
  std::uint32_t skipping_ = 0;
  bool in_text_ = false;
  bool in_properties_ = false;
  int span_ = 1;
  std::string list_number_;
  int list_level_ = 0;
  std::map<std::pair<std::string, int>, int> counters_;
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
  if (!package.has(kBody)) return refuse("office_structure", "the document has no body");
  StyleHandler styles;
  MR_TRY_VOID(package.read("word/styles.xml", styles));
  NumberingHandler numbering;
  MR_TRY_VOID(package.read("word/numbering.xml", numbering));
  MR_TRY(const auto targets, relationships_of(package, kBody));

  BodyHandler body(package.text(), styles, numbering);
  MR_TRY_VOID(package.read(kBody, body));
  MR_TRY_VOID(body.state());
  Flow flow{.blocks = body.builder().take()};
  for (const auto* part : {"word/footnotes.xml", "word/endnotes.xml"}) {
    BodyHandler notes(package.text(), styles, numbering);
    MR_TRY_VOID(package.read(part, notes));
    for (auto& block : notes.builder().take()) {
      const auto* paragraph = std::get_if<Paragraph>(&block);
      if (paragraph == nullptr || !paragraph->text.empty()) flow.blocks.push_back(std::move(block));
    }
  }
  const auto running = [&](const std::vector<std::string>& ids) -> Result<std::string> {
    std::set<std::string_view> seen;
    for (const auto& id : ids) {
      const auto target = targets.find(id);
      if (target == targets.end() || !seen.insert(target->second).second) continue;
      BodyHandler part(package.text(), styles, numbering);
      MR_TRY_VOID(package.read(target->second, part));
      auto line = one_line(part.builder().take());
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
