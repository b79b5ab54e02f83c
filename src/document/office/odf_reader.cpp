// ODF: ODT as one flow, ODS as one per sheet, ODP as one per slide. All three are content.xml.
#include "document/office/list_marker.h"
#include "document/office/package.h"
#include "document/office/text_builder.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

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

// What stands before the items of lists, by style and level; those of the document itself come
// before those that its template has.
class ListStyles {
 public:
  struct Level {
    NumberFormat format = NumberFormat::bullet;
    std::uint32_t start = 1;
    std::uint32_t levels = 1;  // With the numbers of those above: "2.1".
    std::string before = {};
    std::string behind = {};
  };

  void start(std::string_view name, const XmlAttributes& attributes) {
    constexpr std::size_t kLevelsMax = 100'000;
    if (name == "list-style") style_ = short_id(attributes.get("name"));
    const bool numbers = name == "list-level-style-number";
    if (style_.empty() || (!numbers && !name.starts_with("list-level-style-"))) return;
    const auto at = number_of(attributes.get("level"), 1);
    if (at < 1 || at > kLevels || levels_.size() >= kLevelsMax) return;
    Level level;
    if (numbers) {
      const bool in_step = attributes.get("num-letter-sync") == "true";
      level.format = format_of(attributes.get("num-format"), in_step);
      level.start = std::min(number_of(attributes.get("start-value"), 1), kStartMax);
      level.levels = number_of(attributes.get("display-levels"), 1);
      level.before = affix_of(attributes.get("num-prefix"));
      level.behind = affix_of(attributes.get("num-suffix"));
    }
    levels_[{style_, at}] = std::move(level);
  }
  void end(std::string_view name) {
    if (name == "list-style") style_.clear();
  }

  Level at(const std::string& style, std::uint32_t level) const {
    const auto found = levels_.find({style, level});
    return found == levels_.end() ? Level{} : found->second;
  }

  static constexpr std::uint32_t kStartMax = 1'000'000;
  static constexpr std::size_t kLevels = 10;  // Styles have no more.

 private:
  // `in_step`: all letters of a number are the same one.
  static NumberFormat format_of(std::string_view name, bool in_step) {
    if (name == "a") return in_step ? NumberFormat::lower_letter : NumberFormat::lower_column;
    if (name == "A") return in_step ? NumberFormat::upper_letter : NumberFormat::upper_column;
    if (name == "i") return NumberFormat::lower_roman;
    if (name == "I") return NumberFormat::upper_roman;
    return name.empty() ? NumberFormat::none : NumberFormat::decimal;
  }

  // Nobody shows longer ones; they would stand before every item.
  static std::string affix_of(std::string_view text) {
    constexpr std::size_t kAffixMax = 64;
    std::string affix(text.size() > kAffixMax ? std::string_view() : text);
    std::ranges::replace_if(
        affix, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return affix;
  }

  std::map<std::pair<std::string, std::uint32_t>, Level> levels_;
  std::string style_;
};

// The lists around a paragraph, and how far those have counted that may go on.
class OpenLists {
 public:
  explicit OpenLists(ListStyles& styles) : styles_(styles) {}

  void begin_list(const XmlAttributes& attributes) {
    List list{.id = std::string(short_id(attributes.get("id")))};
    const auto own_style = short_id(attributes.get("style-name"));
    list.style = own_style;
    if (own_style.empty() && !open_.empty()) list.style = open_.back().style;
    const auto level = static_cast<std::uint32_t>(open_.size() + 1);
    list.level = styles_.at(list.style, level);
    list.counted.next = list.level.start;
    const auto continued = short_id(attributes.get("continue-list"));
    const bool goes_on = attributes.get("continue-numbering") == "true";
    if (!continued.empty()) {
      resume(list, known_.find({"#" + std::string(continued), level}));
    } else if (goes_on) {
      resume(list, known_.find({list.style, level}));
    } else if (own_style.empty() && !open_.empty()) {
      resume_within(list, open_.back());
    }
    const auto next = list.counted.next;
    list.last = next > list.level.start ? next - 1 : list.level.start;
    open_.push_back(std::move(list));
  }
  void end_list() {
    if (open_.empty()) return;
    constexpr std::size_t kKnownMax = 10'000;
    if (known_.size() > kKnownMax) known_.clear();
    const auto list = std::move(open_.back());
    const auto level = static_cast<std::uint32_t>(open_.size());
    open_.pop_back();
    known_[{list.style, level}] = list.counted;
    if (!list.id.empty()) known_[{"#" + list.id, level}] = list.counted;
    if (open_.empty()) return;
    auto& deeper = open_.back().counted.deeper;
    deeper.assign(1, list.counted.next);
    deeper.insert(deeper.end(), list.counted.deeper.begin(), list.counted.deeper.end());
    deeper.resize(std::min(deeper.size(), ListStyles::kLevels));
  }
  void begin_item(const XmlAttributes& attributes) {
    item_starts_ = true;
    if (open_.empty()) return;
    auto& next = open_.back().counted.next;
    next = std::min(number_of(attributes.get("start-value"), next), ListStyles::kStartMax);
  }

  int depth() const { return static_cast<int>(std::min<std::size_t>(open_.size(), 8)); }
  // Of the paragraph that begins: only the first of an item has one.
  std::string marker() {
    if (!std::exchange(item_starts_, false) || open_.empty()) return {};
    auto& list = open_.back();
    // Lists within this item and the next ones begin anew.
    list.counted.deeper.clear();
    list.resumed = false;
    if (list.level.format == NumberFormat::bullet) return std::string(kBulletMarker);
    list.last = list.counted.next++;
    if (list.level.format == NumberFormat::none) return {};
    auto text = list.level.before + numbers() + list.level.behind;
    const auto end = text.find_last_not_of(' ');
    text.resize(end == std::string::npos ? 0 : end + 1);
    return text;
  }

 private:
  // Of the item that has just been counted, and of those around it as far as its level shows them.
  std::string numbers() const {
    const auto levels_max = std::min(open_.size(), ListStyles::kLevels);
    const auto shown = std::clamp<std::size_t>(open_.back().level.levels, 1, levels_max);
    std::string text;
    for (auto at = open_.size() - shown; at < open_.size(); ++at) {
      const auto number = number_text(open_[at].level.format, open_[at].last);
      if (!text.empty() && !number.empty()) text += '.';
      text += number;
    }
    return text;
  }

  struct Counted {
    std::uint32_t next = 1;
    std::vector<std::uint32_t> deeper = {};  // Likewise, of the lists below its last item.
  };
  struct List {
    std::string id = {};
    std::string style = {};
    ListStyles::Level level = {};
    Counted counted = {};
    std::uint32_t last = 1;  // What was counted, or is above the first item.
    bool resumed = false;    // It goes on with another one, and has no item of its own yet.
  };
  using Place = std::pair<std::string, std::uint32_t>;
  using KnownLists = std::map<Place, Counted>;

  void resume(List& list, KnownLists::const_iterator from) const {
    if (from == known_.end()) return;
    list.counted = from->second;
    list.resumed = true;
  }
  // A text between the items of a level cuts all lists around it in two. Only the outermost says
  // that it goes on.
  static void resume_within(List& list, const List& outer) {
    const auto& deeper = outer.counted.deeper;
    if (!outer.resumed || deeper.empty()) return;
    list.counted = {.next = deeper.front(), .deeper = {deeper.begin() + 1, deeper.end()}};
    list.resumed = true;
  }

  ListStyles& styles_;
  std::vector<List> open_;
  KnownLists known_;
  bool item_starts_ = false;
};

class ContentHandler final : public XmlHandler {
 public:
  ContentHandler(TextBudget& budget, ListStyles& list_styles)
      : builder_(budget), list_styles_(list_styles), lists_(list_styles) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (skipping_ > 0 || is_left_out(name)) {
      ++skipping_;
      return;
    }
    if (name == "style") style_ = short_id(attributes.get("name"));
    if (name == "paragraph-properties" && attributes.get("break-before") == "page" &&
        !style_.empty() && breaking_styles_.size() < kStylesMax) {
      breaking_styles_.insert(style_);
    }
    if (!in_body_) {
      list_styles_.start(name, attributes);
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
      lists_.begin_list(attributes);
    } else if (name == "list-item") {
      lists_.begin_item(attributes);
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
    if (!in_body_) return list_styles_.end(name);
    if (name == "p" || name == "h") builder_.end_paragraph();
    if (name == "list") lists_.end_list();
    if (name == "table-cell" || name == "covered-table-cell") end_cell();
    if (name == "table-row") builder_.end_row(take_repeats());
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
    if (breaking_styles_.contains(short_id(attributes.get("style-name")))) builder_.page_break();
    builder_.begin_paragraph();
    if (!builder_.in_paragraph()) return;
    auto& paragraph = builder_.paragraph();
    if (name == "h") {
      paragraph.heading =
          static_cast<int>(std::clamp(number_of(attributes.get("outline-level"), 1), 1U, 6U));
    }
    if (is_title_) paragraph.heading = 1;
    paragraph.list_level = lists_.depth();
    paragraph.marker = lists_.marker();
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
      repeats_.push_back(number_of(attributes.get("number-rows-repeated"), 1));
    } else if (name == "table-cell" || name == "covered-table-cell") {
      builder_.begin_cell();
      repeats_.push_back(number_of(attributes.get("number-columns-repeated"), 1));
    }
  }

  // Of the row or cell that ends.
  std::uint32_t take_repeats() {
    if (repeats_.empty()) return 1;
    const auto repeats = repeats_.back();
    repeats_.pop_back();
    return repeats;
  }

  // Empty cells that repeat are mostly the rest of a sheet, up to its last column.
  void end_cell() {
    constexpr std::uint32_t kEmptyMax = 64;
    const auto repeats = take_repeats();
    builder_.end_equal_cells(builder_.cell_is_empty() ? std::min(repeats, kEmptyMax) : repeats);
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
  static constexpr std::size_t kStylesMax = 100'000;

  TextBuilder builder_;
  ListStyles& list_styles_;
  OpenLists lists_;
  std::vector<Flow> flows_;
  std::set<std::string, std::less<>> breaking_styles_;
  std::string style_;
  std::uint32_t skipping_ = 0;
  std::vector<std::uint32_t> repeats_;  // Of the rows and cells that are open.
  bool in_body_ = false;
  bool is_sheets_ = false;
  bool is_title_ = false;
  Result<void> state_ = ok();
};

// The first header and footer of the page styles, and the styles of lists.
struct StylesHandler final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    lists.start(name, attributes);
    if (name == "header" && header.empty()) target = &header;
    if (name == "footer" && footer.empty()) target = &footer;
    if (target != nullptr && name == "p") in_paragraph = true;
  }
  void end(std::string_view name) override {
    lists.end(name);
    if (name == "header" || name == "footer") target = nullptr;
    if (name == "p") in_paragraph = false;
  }
  void text(std::string_view text) override {
    constexpr std::size_t kRunningMax = 1'000;
    if (target != nullptr && in_paragraph && target->size() < kRunningMax) *target += text;
  }

  ListStyles lists;
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
  StylesHandler styles;
  MR_TRY_VOID(package.read("styles.xml", styles));
  ContentHandler content(package.text(), styles.lists);
  MR_TRY_VOID(package.read("content.xml", content));
  MR_TRY_VOID(content.state());
  auto flows = content.take();
  for (auto& flow : flows) {
    drop_empty_rows(flow);
    if (flow.paper != Paper::a4_portrait) continue;
    flow.header = styles.header;
    flow.footer = styles.footer;
  }
  return flows;
}

}  // namespace millrace::document
