// XLSX: every sheet a flow of tables; an empty row ends a table, columns without a value are left
// out. Values as they are shown, as far as cell_format.h goes.
#include "document/office/cell_format.h"
#include "document/office/package.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace millrace::document {

namespace {

constexpr std::string_view kUsualWorkbook = "xl/workbook.xml";
constexpr std::uint32_t kColumnMax = 16'384;  // XFD.

struct Sheet {
  std::string name;
  std::string id;
};

struct WorkbookHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    ids.note(attributes);
    if (name == "sheet") {
      sheets.push_back({std::string(attributes.get("name")), std::string(ids.id(attributes))});
    }
    if (name == "workbookPr") {
      const auto value = attributes.get("date1904");
      from_1904 = value == "1" || value == "true";
    }
  }
  void end(std::string_view) override {}
  void text(std::string_view) override {}

  RelationshipIds ids;
  std::vector<Sheet> sheets;
  bool from_1904 = false;
};

class SharedStrings final : public XmlHandler {
 public:
  explicit SharedStrings(TextBudget& budget) : budget_(budget) {}

  void start(std::string_view name, const XmlAttributes&) override {
    if (name == "si") current_.clear();
    if (name == "rPh") phonetic_ = true;
    if (name == "t") in_text_ = !phonetic_;
  }
  void end(std::string_view name) override {
    if (name == "t") in_text_ = false;
    if (name == "rPh") phonetic_ = false;
    if (name != "si" || !state_.has_value()) return;
    state_ = budget_.add_text(current_.size() + 16);
    if (state_.has_value()) strings_.push_back(std::move(current_));
    current_.clear();
  }
  void text(std::string_view text) override {
    if (in_text_) current_ += text;
  }
  Result<void> state() override { return state_; }

  std::string_view at(std::size_t index) const {
    return index < strings_.size() ? std::string_view(strings_[index]) : std::string_view();
  }

 private:
  TextBudget& budget_;
  std::vector<std::string> strings_;
  std::string current_;
  bool in_text_ = false;
  bool phonetic_ = false;
  Result<void> state_ = ok();
};

template <class Number>
Number parse(std::string_view text, Number otherwise = {}) {
  Number value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Style of a cell → format code.
struct StylesHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "numFmt") {
      codes[parse<int>(attributes.get("numFmtId"))] = attributes.get("formatCode");
    } else if (name == "cellXfs") {
      in_cells = true;
    } else if (name == "xf" && in_cells) {
      ids.push_back(parse<int>(attributes.get("numFmtId")));
    }
  }
  void end(std::string_view name) override {
    if (name == "cellXfs") in_cells = false;
  }
  void text(std::string_view) override {}

  int id_of(std::size_t style) const { return style < ids.size() ? ids[style] : 0; }
  std::string_view format(int id) const {
    const auto found = codes.find(id);
    return found == codes.end() ? builtin_format(id) : std::string_view(found->second);
  }

  std::map<int, std::string> codes;
  std::vector<int> ids;
  bool in_cells = false;
};

struct Book {
  SharedStrings strings;
  StylesHandler styles;
  bool from_1904 = false;
};

// "BC12" → 54, counted from 0. Nothing when there are no letters.
std::optional<std::uint32_t> column_of(std::string_view reference) {
  std::uint32_t column = 0;
  for (const char c : reference) {
    if (c < 'A' || c > 'Z') break;
    column = column * 26 + static_cast<std::uint32_t>(c - 'A' + 1);
    if (column > kColumnMax) return std::nullopt;
  }
  if (column == 0) return std::nullopt;
  return column - 1;
}

struct SheetCell {
  std::uint32_t column = 0;
  std::string text;
};

class SheetHandler final : public XmlHandler {
 public:
  SheetHandler(const Book& book, TextBudget& budget) : book_(book), budget_(budget) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "row") {
      const auto number = parse<std::uint32_t>(attributes.get("r"), row_number_ + 1);
      if (number > row_number_ + 1) end_table();
      row_number_ = number;
      next_column_ = 0;
      row_.clear();
    } else if (name == "c") {
      column_ = column_of(attributes.get("r")).value_or(next_column_);
      next_column_ = column_ + 1;
      type_ = attributes.get("t");
      style_ = parse<std::size_t>(attributes.get("s"), 0);
      value_.clear();
    } else if (name == "v" || name == "t") {
      in_value_ = true;
    }
  }

  void end(std::string_view name) override {
    if (name == "v" || name == "t") in_value_ = false;
    if (name == "c") end_cell();
    if (name == "row") end_row();
    if (name == "sheetData") end_table();
  }

  void text(std::string_view text) override {
    if (in_value_ && state_.has_value() && value_.size() < kMiB) value_ += text;
  }

  Result<void> state() override { return state_; }
  std::vector<FlowBlock> take() { return std::move(blocks_); }

 private:
  void end_cell() {
    if (value_.empty() || !state_.has_value() || column_ >= kColumnMax) return;
    std::string shown;
    if (type_ == "s") {
      shown = book_.strings.at(parse<std::size_t>(value_, SIZE_MAX));
    } else if (type_ == "b") {
      shown = value_ == "1" ? "TRUE" : "FALSE";
    } else if (type_.empty() || type_ == "n") {
      double number = 0;
      const auto* end = value_.data() + value_.size();
      const auto read = std::from_chars(value_.data(), end, number);
      const bool is_number = read.ec == std::errc() && read.ptr == end;
      shown = is_number ? format_number(number, format(), book_.from_1904) : value_;
    } else {
      shown = value_;
    }
    if (shown.empty()) return;
    state_ = budget_.add_text(shown.size());
    if (state_.has_value()) row_.push_back({.column = column_, .text = std::move(shown)});
  }

  // Of the cell in hand; taken apart once.
  const FormatCode& format() {
    constexpr std::size_t kFormatsMax = 1'000;
    const auto id = book_.styles.id_of(style_);
    const auto found = formats_.find(id);
    if (found != formats_.end()) return found->second;
    if (formats_.size() >= kFormatsMax) formats_.clear();
    return formats_.emplace(id, FormatCode::parse(book_.styles.format(id))).first->second;
  }

  void end_row() {
    if (row_.empty()) return end_table();
    if (!state_.has_value()) return;
    rows_.push_back(std::move(row_));
    row_.clear();
  }

  // Columns are those that have a value in any row of the table.
  void end_table() {
    if (rows_.empty() || !state_.has_value()) return;
    std::vector<std::uint32_t> columns;
    for (const auto& row : rows_) {
      for (const auto& cell : row) columns.push_back(cell.column);
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    state_ = budget_.add_cells(std::uint64_t{columns.size()} * rows_.size());
    if (!state_.has_value()) return;
    TextTable table;
    for (auto& row : rows_) {
      auto& cells = table.rows.emplace_back(columns.size());
      for (auto& cell : row) {
        const auto at = std::ranges::lower_bound(columns, cell.column) - columns.begin();
        cells[static_cast<std::size_t>(at)] = std::move(cell.text);
      }
    }
    blocks_.emplace_back(std::move(table));
    rows_.clear();
  }

  const Book& book_;
  TextBudget& budget_;
  std::map<int, FormatCode> formats_;
  std::vector<FlowBlock> blocks_;
  std::vector<std::vector<SheetCell>> rows_;
  std::vector<SheetCell> row_;
  std::uint32_t row_number_ = 0;
  std::uint32_t column_ = 0;
  std::uint32_t next_column_ = 0;
  std::string type_;
  std::size_t style_ = 0;
  std::string value_;
  bool in_value_ = false;
  Result<void> state_ = ok();
};

}  // namespace

Result<std::vector<Flow>> read_xlsx(Package& package) {
  const auto part = main_part_of(package, kUsualWorkbook);
  if (!package.has(part)) return refuse("office_structure", "the workbook is missing");
  WorkbookHandler workbook;
  MR_TRY_VOID(package.read(part, workbook));
  MR_TRY(const auto links, relationships_of(package, part));
  if (workbook.sheets.size() > package.limits().pages_max) {
    return refuse("page_count", "the workbook has more sheets than are allowed");
  }
  Book book{.strings = SharedStrings(package.text()), .from_1904 = workbook.from_1904};
  MR_TRY_VOID(
      package.read(links.first(package, "sharedStrings", "sharedStrings.xml"), book.strings));
  MR_TRY_VOID(package.read(links.first(package, "styles", "styles.xml"), book.styles));
  std::vector<Flow> flows;
  for (const auto& sheet : workbook.sheets) {
    const auto* target = links.target(sheet.id);
    if (target == nullptr || !package.has(*target)) {
      return refuse("office_structure", "a sheet is missing");
    }
    SheetHandler handler(book, package.text());
    MR_TRY_VOID(package.read(*target, handler));
    Flow flow{.paper = Paper::a4_landscape, .blocks = handler.take(), .header = sheet.name};
    flows.push_back(std::move(flow));
  }
  return flows;
}

}  // namespace millrace::document
