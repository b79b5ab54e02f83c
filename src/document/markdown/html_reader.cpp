// HTML: tags in the order in which they come drive the writer. No tree is built, so depth costs
// nothing, and tags that do not match are closed where their container ends.
#include "document/markdown/escape.h"
#include "document/markdown/html_table.h"
#include "document/markdown/html_tokens.h"
#include "document/markdown/inline_text.h"
#include "document/markdown/readers.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kOpenMax = 64;  // Lists, quotes and tables within each other.

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Elements that stand by themselves and end the paragraph before them.
bool is_block(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"address", "article", "aside",   "body",     "center",     "details", "dialog",
       "dir",     "div",     "dl",      "fieldset", "figcaption", "figure",  "footer",
       "form",    "header",  "hgroup",  "legend",   "main",       "menu",    "p",
       "search",  "section", "summary", "optgroup", "option"});
  return is_one_of(name, kNames);
}

// Not what a page says: dropped with everything inside.
bool is_left_out(std::string_view name) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"audio", "button", "canvas", "datalist", "nav", "noscript",
                                       "object", "select", "svg", "template", "textarea", "video"});
  return is_one_of(name, kNames);
}

// An end tag may be missing; the next one of its kind ends it.
bool may_stay_open(std::string_view name) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"dd", "dt", "li", "option", "p", "td", "th", "tr"});
  return is_one_of(name, kNames);
}

bool is_hidden(const HtmlToken& token) {
  if (token.attributes.empty()) return false;
  if (token.has("hidden") || token.attribute("aria-hidden") == "true") return true;
  auto style = layout::to_lower(token.attribute("style"));
  std::erase(style, ' ');
  return style.find("display:none") != std::string::npos ||
         style.find("visibility:hidden") != std::string::npos;
}

std::uint32_t number_of(std::string_view text, std::uint32_t otherwise) {
  std::uint32_t value = otherwise;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? value : otherwise;
}

int heading_level(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

std::optional<InlineMark> mark_of(std::string_view name) {
  if (name == "b" || name == "strong") return InlineMark::strong;
  if (name == "i" || name == "em" || name == "cite" || name == "dfn") return InlineMark::emphasis;
  if (name == "s" || name == "del" || name == "strike") return InlineMark::strike;
  if (name == "sup") return InlineMark::above;
  if (name == "sub") return InlineMark::below;
  return std::nullopt;
}

bool is_code(std::string_view name) {
  return name == "code" || name == "kbd" || name == "samp" || name == "tt";
}

// Without characters that only say where a line may break.
std::string plain(std::string_view text) {
  auto decoded = decode_references(text);
  if (decoded.find_first_of("\xc2\xe2\xef") == std::string::npos) return decoded;
  std::string out;
  out.reserve(decoded.size());
  for (std::size_t at = 0; at < decoded.size();) {
    const auto rest = std::string_view(decoded).substr(at);
    if (rest.starts_with("\xc2\xa0")) {
      out += ' ';
      at += 2;
    } else if (rest.starts_with("\xc2\xad")) {
      at += 2;
    } else if (rest.starts_with("\xe2\x80\x8b") || rest.starts_with("\xef\xbb\xbf")) {
      at += 3;
    } else {
      out += decoded[at++];
    }
  }
  return out;
}

// "language-cpp", "lang-py", "highlight-source-c" → the name, if it is one.
std::string code_language(const HtmlToken& token) {
  const auto classes = token.attribute("class");
  for (const std::string_view start : {"language-", "lang-", "highlight-source-"}) {
    const auto at = classes.find(start);
    if (at == std::string::npos) continue;
    auto name = classes.substr(at + start.size());
    name.resize(std::min(name.find(' '), name.size()));
    const bool good = name.size() <= 20 && std::ranges::all_of(name, [](char c) {
                        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' ||
                               c == '-' || c == '#';
                      });
    return good ? name : std::string();
  }
  return {};
}

struct Open {
  enum class Kind { list, quote, table };
  Kind kind = Kind::list;
  bool ordered = false;
  std::uint32_t next = 1;  // Of an ordered list.
  std::unique_ptr<HtmlTable> table = {};
};

class HtmlReader {
 public:
  explicit HtmlReader(ReadContext& context) : context_(context), out_(context.out) {}

  Result<void> run(std::string_view html) {
    HtmlTokens tokens(html);
    for (;;) {
      const auto token = tokens.next();
      if (token.kind == HtmlToken::Kind::end_of_text) break;
      if (skip(token)) continue;
      switch (token.kind) {
        case HtmlToken::Kind::text:
          add_text(token.text);
          break;
        case HtmlToken::Kind::raw_text:
          if (!in_title_) {
            add_text(token.text);
          } else if (context_.report.title.empty()) {
            context_.report.title = clean_title(decode_references(token.text));
          }
          break;
        case HtmlToken::Kind::start:
          start(token);
          if (token.closes_itself && !is_void_element(token.name)) end(token.name);
          break;
        default:
          end(token.name);
      }
      if (!state_.has_value()) return state_;
      if (!out_.state().has_value()) return out_.state();
    }
    end_block();
    while (!open_.empty()) pop();
    return state_;
  }

 private:
  // -- what is left out --

  bool skip(const HtmlToken& token) {
    const bool is_start = token.kind == HtmlToken::Kind::start;
    if (skipped_.empty()) {
      if (!is_start || is_void_element(token.name)) return false;
      const bool left_out = is_left_out(token.name);
      if (!left_out && !is_hidden(token)) return false;
      if (token.name == "html" || token.name == "body") return false;
      const bool empty = token.attributes.ends_with('/') && token.name == "svg";
      if (empty || token.closes_itself) return true;
      if (token.name == "nav")
        context_.report.warn("navigation", "navigation was left out");
      else if (!left_out)
        context_.report.warn("hidden_text", "text that nobody sees was left out");
      skipped_ = token.name;
      skip_depth_ = 1;
      return true;
    }
    if (is_start && token.name == skipped_) {
      if (token.closes_itself) return true;
      if (may_stay_open(skipped_)) {
        skipped_.clear();
        return skip(token);
      }
      ++skip_depth_;
    } else if (token.kind == HtmlToken::Kind::end) {
      if (token.name == skipped_ && --skip_depth_ == 0) {
        skipped_.clear();
      } else if (may_stay_open(skipped_) && ends_any(token.name)) {
        skipped_.clear();
        return false;
      }
    }
    return true;
  }

  static bool ends_any(std::string_view name) {
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"article", "body", "div", "dl", "ol", "section", "table", "ul"});
    return is_one_of(name, kNames);
  }

  // -- where we are --

  HtmlTable* table() const {
    for (auto at = open_.rbegin(); at != open_.rend(); ++at) {
      if (at->kind == Open::Kind::table) return at->table.get();
    }
    return nullptr;
  }
  // The table into whose cell text goes; null when text goes to the writer.
  HtmlTable* cell() const {
    auto* const found = table();
    return found != nullptr && !found->is_layout && found->in_cell ? found : nullptr;
  }

  void add_text(std::string_view raw) {
    if (in_pre_) {
      pre_ += decode_references(raw);
    } else if (in_code_) {
      code_ += plain(raw);
    } else {
      text_.text(plain(raw));
    }
  }

  void end_code() {
    if (!in_code_) return;
    in_code_ = false;
    text_.code(code_);
    code_.clear();
  }

  // Ends the paragraph, heading or line of a cell that is being put together.
  void end_block() {
    end_pre();
    end_code();
    if (cell() != nullptr) {
      text_.line_break();
      return;
    }
    const int level = std::exchange(heading_, 0);
    if (text_.empty()) {
      text_.take();
    } else if (level > 0) {
      out_.heading(level, text_.take());
    } else {
      out_.paragraph(text_.take());
    }
    if (level > 0) text_.reset(InlineText::Place::paragraph);
  }

  void end_pre() {
    if (!std::exchange(in_pre_, false)) return;
    std::erase(pre_, '\r');
    if (cell() == nullptr) {
      out_.code(pre_, pre_language_);
    } else {
      std::string_view rest = pre_;
      while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        text_.code(rest.substr(0, end));
        text_.line_break();
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    pre_.clear();
  }

  // -- lists, quotes, tables --

  void push(Open open) {
    if (open_.size() >= kOpenMax) {
      context_.report.warn("depth", "elements within elements were taken apart");
      return;
    }
    if (open.kind == Open::Kind::list) out_.begin_list();
    if (open.kind == Open::Kind::quote) out_.begin_quote();
    open_.push_back(std::move(open));
  }

  void pop() {
    auto last = std::move(open_.back());
    if (last.kind == Open::Kind::list) out_.end_list();
    if (last.kind == Open::Kind::quote) out_.end_quote();
    if (last.kind == Open::Kind::table) finish_table(*last.table);
    open_.pop_back();
  }

  // Ends the innermost one of a kind and what is open within it, but no table around it.
  bool pop_to(Open::Kind kind) {
    for (auto at = open_.rbegin(); at != open_.rend(); ++at) {
      if (at->kind == kind) {
        const auto keep = static_cast<std::size_t>(open_.rend() - at) - 1;
        while (open_.size() > keep) pop();
        return true;
      }
      if (at->kind == Open::Kind::table) return false;
    }
    return false;
  }
  void pop_above_table() {
    while (!open_.empty() && open_.back().kind != Open::Kind::table) pop();
  }

  void start_item(const HtmlToken& token) {
    end_block();
    if (cell() != nullptr) return text_.text("• ");
    auto at = open_.rbegin();
    while (at != open_.rend() && at->kind == Open::Kind::quote) ++at;
    const bool in_list = at != open_.rend() && at->kind == Open::Kind::list;
    if (!in_list) {
      push({.kind = Open::Kind::list});
    } else {
      while (open_.back().kind != Open::Kind::list) pop();
    }
    if (open_.empty() || open_.back().kind != Open::Kind::list) return;
    auto& list = open_.back();
    if (list.ordered) {
      constexpr std::uint32_t kNumberMax = 999'999'999;  // Markdown allows nine digits.
      if (token.has("value")) list.next = number_of(token.attribute("value"), list.next);
      out_.begin_item(std::to_string(std::min(list.next++, kNumberMax)) + ".");
    } else {
      out_.begin_item("-");
    }
  }

  void start_table(const HtmlToken& token) {
    end_block();
    if (cell() != nullptr) loosen(*cell());
    auto made = std::make_unique<HtmlTable>(context_.limits);
    const auto role = token.attribute("role");
    made->is_layout = role == "presentation" || role == "none";
    push({.kind = Open::Kind::table, .table = std::move(made)});
  }

  // A table that holds another only places things: what it has so far is read cell by cell.
  void loosen(HtmlTable& table) {
    auto current = text_.take();
    text_.reset(InlineText::Place::paragraph);
    write_cells(table.take());
    if (!current.empty()) write_cell(current);
    table.is_layout = true;
  }

  void write_cell(std::string_view cell) {
    constexpr std::string_view kBreak = "<br>";
    std::string text;
    for (auto at = cell.find(kBreak); at != cell.npos; at = cell.find(kBreak)) {
      text.append(cell.substr(0, at)).append("\\\n");
      cell.remove_prefix(at + kBreak.size());
    }
    text.append(cell);
    out_.paragraph(text);
  }
  void write_cells(const TableRows& rows) {
    for (const auto& row : rows) {
      for (const auto& cell : row) write_cell(cell);
    }
  }

  void finish_table(HtmlTable& table) {
    if (table.is_layout) return;
    end_cell(table);
    const bool heads = table.has_heads();
    const auto rows = table.take();
    std::size_t columns = 0;
    for (const auto& row : rows) columns = std::max(columns, row.size());
    if (columns < 2 || (rows.size() < 2 && !heads)) {
      write_cells(rows);
    } else {
      out_.table(rows);
    }
  }

  void end_cell(HtmlTable& table) {
    if (!std::exchange(table.in_cell, false) || table.is_layout) return;
    auto added = table.add_cell(text_.take());
    if (!added.has_value()) state_ = std::move(added);
    text_.reset(InlineText::Place::paragraph);
  }

  void start_cell(const HtmlToken& token) {
    end_block();
    pop_above_table();
    auto* const found = table();
    if (found == nullptr) return;
    end_cell(*found);
    found->in_cell = true;
    if (found->is_layout) return;
    found->span = {.columns = std::min(number_of(token.attribute("colspan"), 1), 1'000U),
                   .rows = std::min(number_of(token.attribute("rowspan"), 1), 65'534U)};
    found->is_head = token.name == "th";
    text_.reset(InlineText::Place::cell);
  }

  void start_row() {
    end_block();
    pop_above_table();
    auto* const found = table();
    if (found == nullptr) return;
    end_cell(*found);
    if (!found->is_layout) found->begin_row();
  }

  // -- tags --

  void start(const HtmlToken& token) {
    const std::string_view name = token.name;
    in_title_ = name == "title";
    if (const int level = heading_level(name); level > 0) return start_heading(level);
    if (const auto mark = mark_of(name)) return text_.open(*mark);
    if (is_block(name)) {
      end_block();
    } else if (name == "pre" || name == "xmp" || name == "listing") {
      end_block();
      in_pre_ = true;
      pre_language_ = code_language(token);
    } else if (is_code(name)) {
      if (in_pre_ && pre_language_.empty()) pre_language_ = code_language(token);
      in_code_ = !in_pre_;
    } else if (name == "li") {
      start_item(token);
    } else if (name == "td" || name == "th") {
      start_cell(token);
    } else if (name == "tr") {
      start_row();
    } else if (name == "table") {
      start_table(token);
    } else {
      start_other(token);
    }
  }

  void start_other(const HtmlToken& token) {
    const std::string_view name = token.name;
    if (name == "html") {
      end_block();
      context_.report.language = clean_title(token.attribute("lang")).substr(0, 16);
    } else if (name == "ul" || name == "ol") {
      end_block();
      if (cell() != nullptr) return;
      push({.kind = Open::Kind::list,
            .ordered = name == "ol",
            .next = number_of(token.attribute("start"), 1)});
    } else if (name == "blockquote") {
      end_block();
      if (cell() == nullptr) push({.kind = Open::Kind::quote});
    } else if (name == "br") {
      if (in_pre_)
        pre_ += '\n';
      else
        text_.line_break();
    } else if (name == "hr") {
      end_block();
      if (cell() == nullptr) out_.rule();
    } else if (name == "img") {
      text_.image(plain(token.attribute("alt")), token.attribute("src"));
    } else if (name == "a") {
      text_.begin_link(token.attribute("href"));
    } else if (name == "dt" || name == "dd") {
      end_block();
      if (std::exchange(in_term_, name == "dt")) text_.close(InlineMark::strong);
      if (in_term_) text_.open(InlineMark::strong);
    } else if (name == "input" && layout::to_lower(token.attribute("type")) == "checkbox") {
      text_.text(token.has("checked") ? "☑ " : "☐ ");
    } else if (name == "q") {
      text_.text("“");
    } else if (name == "caption") {
      end_block();
    }
  }

  void start_heading(int level) {
    end_block();
    if (cell() != nullptr) return text_.open(InlineMark::strong);
    text_.reset(InlineText::Place::heading);
    heading_ = level;
  }

  void end(std::string_view name) {
    in_title_ = false;
    if (heading_level(name) > 0) {
      if (cell() != nullptr) text_.close(InlineMark::strong);
      end_block();
    } else if (const auto mark = mark_of(name)) {
      text_.close(*mark);
    } else if (name == "pre" || name == "xmp" || name == "listing" || is_block(name)) {
      end_block();
      if (name == "dl" && std::exchange(in_term_, false)) text_.close(InlineMark::strong);
      if (name == "p") text_.end_link();
    } else if (is_code(name)) {
      end_code();
    } else if (name == "a") {
      text_.end_link();
    } else if (name == "q") {
      text_.text("”");
    } else if (name == "caption" || name == "li") {
      end_block();
    } else if (name == "dt") {
      end_block();
      if (std::exchange(in_term_, false)) text_.close(InlineMark::strong);
    } else {
      end_container(name);
    }
  }

  void end_container(std::string_view name) {
    if (name == "ul" || name == "ol") {
      end_block();
      if (cell() == nullptr) pop_to(Open::Kind::list);
    } else if (name == "blockquote") {
      end_block();
      if (cell() == nullptr) pop_to(Open::Kind::quote);
    } else if (name == "td" || name == "th" || name == "tr") {
      auto* const found = table();
      if (found == nullptr) return;
      end_block();
      pop_above_table();
      end_cell(*found);
      if (name == "tr" && !found->is_layout) found->end_row();
    } else if (name == "table") {
      if (table() == nullptr) return;
      end_block();
      pop_above_table();
      pop();
    }
  }

  ReadContext& context_;
  MarkdownWriter& out_;
  InlineText text_;
  std::vector<Open> open_;
  std::string skipped_;  // The element that is being left out.
  std::size_t skip_depth_ = 0;
  int heading_ = 0;
  bool in_title_ = false;
  bool in_term_ = false;
  bool in_pre_ = false;
  std::string pre_;
  std::string pre_language_;
  bool in_code_ = false;
  std::string code_;
  Result<void> state_ = {};
};

}  // namespace

Result<void> read_html(std::string_view html, ReadContext& context) {
  return HtmlReader(context).run(html);
}

}  // namespace millrace::document
