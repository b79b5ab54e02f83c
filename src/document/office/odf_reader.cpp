// ODF: ODT as one flow, ODS as one per sheet, ODP as one per slide. All three are content.xml.
#include "document/office/package.h"
#include "document/office/text_builder.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace millrace::document {

namespace {

std::uint32_t number_of(std::string_view text, std::uint32_t otherwise) {
  std::uint32_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Not part of what is printed: changes that were rejected, remarks, notes of the speaker.
bool is_left_out(std::string_view name) {
  static constexpr std::string_view kNames[] = {"tracked-changes", "annotation", "notes",
                                                "forms",           "script",     "scripts"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

class ContentHandler final : public XmlHandler {
 public:
  explicit ContentHandler(TextBudget& budget) : builder_(budget) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (skipping_ > 0 || is_left_out(name)) {
      ++skipping_;
      return;
    }
    if (name == "style") style_ = attributes.get("name");
    if (name == "paragraph-properties" && attributes.get("break-before") == "page") {
      breaking_styles_.insert(style_);
    }
    if (!in_body_) {
      in_body_ = name == "body";
      return;
    }
    if (name == "p" || name == "h") {
      start_paragraph(name, attributes);
    } else if (name == "s") {
      builder_.add(std::string(std::min(number_of(attributes.get("c"), 1), 100U), ' '));
    } else if (name == "tab") {
      builder_.add("\t");
    } else if (name == "line-break") {
      builder_.add("\n");
    } else if (name == "list") {
      ++list_depth_;
    } else if (name == "list-item") {
      item_starts_ = true;
    } else if (name == "frame") {
      is_title_ = attributes.get("class") == "title";
    } else if (name == "page") {
      begin_flow(Paper::slide, {});
      flows_.back().fit_one_page = true;
    } else {
      start_table_part(name, attributes);
    }
  }

  void end(std::string_view name) override {
    if (skipping_ > 0) {
      --skipping_;
      return;
    }
    if (!in_body_) return;
    if (name == "p" || name == "h") builder_.end_paragraph();
    if (name == "list" && list_depth_ > 0) --list_depth_;
    if (name == "table-cell" || name == "covered-table-cell") end_cell();
    if (name == "table") builder_.end_table();
    if (name == "frame") is_title_ = false;
  }

  void text(std::string_view text) override {
    if (skipping_ == 0 && in_body_) builder_.add(text);
  }

  Result<void> state() override {
    if (!state_.has_value()) return state_;
    return builder_.state();
  }

  std::vector<Flow> take() {
    finish_flow();
    return std::move(flows_);
  }

 private:
  void start_paragraph(std::string_view name, const XmlAttributes& attributes) {
    if (breaking_styles_.contains(attributes.get("style-name"))) builder_.page_break();
    builder_.begin_paragraph();
    if (!builder_.in_paragraph()) return;
    auto& paragraph = builder_.paragraph();
    if (name == "h") {
      paragraph.heading =
          static_cast<int>(std::clamp(number_of(attributes.get("outline-level"), 1), 1U, 6U));
    }
    if (is_title_) paragraph.heading = 1;
    paragraph.list_level = static_cast<int>(std::min(list_depth_, 8U));
    if (list_depth_ > 0 && item_starts_) paragraph.marker = "•";
    item_starts_ = false;
  }

  void start_table_part(std::string_view name, const XmlAttributes& attributes) {
    if (name == "spreadsheet") {
      is_sheets_ = true;
    } else if (name == "table") {
      if (is_sheets_ && !builder_.in_table()) {
        begin_flow(Paper::a4_landscape, std::string(attributes.get("name")));
      }
      builder_.begin_table();
    } else if (name == "table-row") {
      builder_.begin_row();
    } else if (name == "table-cell" || name == "covered-table-cell") {
      builder_.begin_cell();
      // Cells that repeat are mostly the empty rest of a sheet, up to its last column.
      repeats_ = number_of(attributes.get("number-columns-repeated"), 1);
    }
  }

  void end_cell() {
    constexpr std::uint32_t kRepeatsMax = 64;
    builder_.end_cell(std::min(repeats_, kRepeatsMax));
    repeats_ = 1;
  }

  void begin_flow(Paper paper, std::string header) {
    finish_flow();
    if (flows_.size() >= kFlowsMax) {
      state_ = refuse("page_count", "the document has more sheets or slides than are allowed");
      return;
    }
    flows_.push_back({.paper = paper, .header = std::move(header)});
  }

  void finish_flow() {
    auto blocks = builder_.take();
    if (flows_.empty()) {
      if (blocks.empty()) return;
      flows_.emplace_back();
    }
    std::ranges::move(blocks, std::back_inserter(flows_.back().blocks));
  }

  static constexpr std::size_t kFlowsMax = 5'000;

  TextBuilder builder_;
  std::vector<Flow> flows_;
  std::set<std::string, std::less<>> breaking_styles_;
  std::string style_;
  std::uint32_t skipping_ = 0;
  std::uint32_t list_depth_ = 0;
  std::uint32_t repeats_ = 1;
  bool in_body_ = false;
  bool is_sheets_ = false;
  bool is_title_ = false;
  bool item_starts_ = false;
  Result<void> state_ = ok();
};

// The first header and footer of the page styles.
struct RunningHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes&) override {
    if (name == "header" && header.empty()) target = &header;
    if (name == "footer" && footer.empty()) target = &footer;
    if (target != nullptr && name == "p") in_paragraph = true;
  }
  void end(std::string_view name) override {
    if (name == "header" || name == "footer") target = nullptr;
    if (name == "p") in_paragraph = false;
  }
  void text(std::string_view text) override {
    constexpr std::size_t kRunningMax = 1'000;
    if (target != nullptr && in_paragraph && target->size() < kRunningMax) *target += text;
  }

  std::string header;
  std::string footer;
  std::string* target = nullptr;
  bool in_paragraph = false;
};

// Sheets are as large as their program allows; what is filled in is a corner of that.
void drop_empty_rows(Flow& flow) {
  for (auto& block : flow.blocks) {
    auto* table = std::get_if<TextTable>(&block);
    if (table == nullptr) continue;
    for (auto& row : table->rows) {
      while (!row.empty() && row.back().empty()) row.pop_back();
    }
    std::erase_if(table->rows, [](const auto& row) { return row.empty(); });
  }
}

}  // namespace

Result<std::vector<Flow>> read_odf(Package& package) {
  if (!package.has("content.xml")) return refuse("office_structure", "the document has no content");
  ContentHandler content(package.text());
  MR_TRY_VOID(package.read("content.xml", content));
  MR_TRY_VOID(content.state());
  auto flows = content.take();
  RunningHandler running;
  MR_TRY_VOID(package.read("styles.xml", running));
  for (auto& flow : flows) {
    drop_empty_rows(flow);
    if (flow.paper != Paper::a4_portrait) continue;
    flow.header = running.header;
    flow.footer = running.footer;
  }
  return flows;
}

}  // namespace millrace::document
