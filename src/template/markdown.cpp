#include "template/markdown.h"

#include "template/context.h"
#include "template/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace millrace::templates {
namespace {

using std::string_view_literals::operator""sv;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Spans: emphasis is closed where its sign comes again within the same text, or is a plain sign.
class Spans {
 public:
  explicit Spans(std::string_view text, bool in_link = false) : text_(text), in_link_(in_link) {}

  std::string html() {
    while (at_ < text_.size()) step();
    while (!open_.empty()) close();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size() && "\\`*_[]()#>-+."sv.contains(text_[at_ + 1])) {
      escape_html(text_.substr(at_ + 1, 1), out_);
      at_ += 2;
      return;
    }
    if (c == '`' && code()) return;
    if (c == '[' && !in_link_ && link()) return;
    if (c == '*') {
      if (emphasis()) return;
      const std::size_t signs = text_.substr(at_).starts_with("**") ? 2 : 1;
      out_.append(signs, '*');
      at_ += signs;
      return;
    }
    if (c == '\n') return line_break();
    auto end = text_.find_first_of("\\`[*\n", at_ + 1);
    if (end == text_.npos) end = text_.size();
    escape_html(text_.substr(at_, end - at_), out_);
    at_ = end;
  }

  void line_break() {
    const bool hard = out_.ends_with("  ") || out_.ends_with('\\');
    while (out_.ends_with(' ') || (hard && out_.ends_with('\\'))) out_.pop_back();
    out_ += hard ? "<br>\n" : "\n";
    ++at_;
  }

  bool code() {
    const auto end = text_.find('`', at_ + 1);
    if (end == text_.npos) return false;
    out_ += "<code>";
    escape_html(text_.substr(at_ + 1, end - at_ - 1), out_);
    out_ += "</code>";
    at_ = end + 1;
    return true;
  }

  bool link() {
    constexpr std::size_t kLinkMax = 4096;
    const auto rest = text_.substr(at_, kLinkMax);
    const auto close = rest.find("](");
    if (close == rest.npos || rest.substr(1, close - 1).contains('[')) return false;
    const auto end = rest.find(')', close);
    if (end == rest.npos) return false;
    const auto address = trimmed(rest.substr(close + 2, end - close - 2));
    const auto label = Spans(rest.substr(1, close - 1), true).html();
    if (link_allowed(address)) {
      out_ += "<a href=\"";
      print_text(address, {.kind = ContextKind::link, .in_attribute = true}, out_);
      out_ += "\">" + label + "</a>";
    } else {
      out_ += label;
    }
    at_ += end + 1;
    return true;
  }

  bool emphasis() {
    const std::size_t signs = text_.substr(at_).starts_with("**") ? 2 : 1;
    const bool is_open = std::ranges::find(open_, signs) != open_.end();
    if (is_open) {
      if (open_.back() != signs) return false;
      close();
      at_ += signs;
      return true;
    }
    const auto after = at_ + signs;
    const bool begins =
        after < text_.size() && !std::isspace(static_cast<unsigned char>(text_[after]));
    if (!begins || no_more_[signs] || text_.find(signs == 2 ? "**" : "*", after) == text_.npos) {
      no_more_[signs] = no_more_[signs] || begins;
      return false;
    }
    open_.push_back(signs);
    out_ += signs == 2 ? "<strong>" : "<em>";
    at_ = after;
    return true;
  }

  void close() {
    out_ += open_.back() == 2 ? "</strong>" : "</em>";
    open_.pop_back();
  }

  std::string_view text_;
  bool in_link_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
  bool no_more_[3] = {};  // A search to the end has found none: it is not repeated.
  std::string out_;
};

enum class Kind { paragraph, heading, bullet, numbered, quote };

struct Line {
  Kind kind = Kind::paragraph;
  int level = 0;  // Of a heading.
  std::string_view text;
};

Line read_line(std::string_view raw) {
  const auto text = trimmed(raw);
  const auto hashes = text.find_first_not_of('#');
  if (hashes != text.npos && hashes > 0 && hashes <= 4 && text[hashes] == ' ') {
    return {Kind::heading, static_cast<int>(hashes), trimmed(text.substr(hashes))};
  }
  if (text.starts_with("- ") || text.starts_with("* ") || text.starts_with("• ")) {
    return {Kind::bullet, 0, trimmed(text.substr(text.find(' ')))};
  }
  if (text.starts_with('>')) return {Kind::quote, 0, trimmed(text.substr(1))};
  const auto digits = text.find_first_not_of("0123456789");
  if (digits != text.npos && digits > 0 && digits <= 3 && text.substr(digits).starts_with(". ")) {
    return {Kind::numbered, 0, trimmed(text.substr(digits + 1))};
  }
  // Blanks at the end of a line may mean a break.
  return {Kind::paragraph, 0, raw.substr(std::min(raw.find_first_not_of(" \t"), raw.size()))};
}

class Blocks {
 public:
  void add(std::string_view raw) {
    while (raw.ends_with('\r')) raw.remove_suffix(1);
    if (is_blank(raw)) {
      flush();
      gap_ = true;
      return;
    }
    const auto line = read_line(raw);
    const bool goes_on = line.kind == Kind::paragraph && !gap_ && kind_ && *kind_ != Kind::heading;
    if (goes_on) {
      text_ += '\n';
      text_ += line.text;
      return;
    }
    const bool same_quote = line.kind == Kind::quote && kind_ == Kind::quote && !gap_;
    if (same_quote) {
      text_ += '\n';
      text_ += line.text;
      return;
    }
    flush();
    begin_list(line.kind);
    kind_ = line.kind;
    level_ = line.level;
    text_ = line.text;
    gap_ = false;
  }

  std::string html() {
    flush();
    begin_list(Kind::paragraph);
    return std::move(out_);
  }

 private:
  static std::string_view list_name(Kind kind) {
    return kind == Kind::bullet ? "ul" : kind == Kind::numbered ? "ol" : "";
  }

  // Items that follow each other are one list, whatever blank lines are between them.
  void begin_list(Kind kind) {
    const auto name = list_name(kind);
    if (name == list_) return;
    if (!list_.empty()) out_ += fmt::format("</{}>\n", list_);
    if (!name.empty()) out_ += fmt::format("<{}>\n", name);
    list_ = name;
  }

  void flush() {
    if (!kind_) return;
    const auto inner = Spans(trimmed(text_)).html();
    switch (*kind_) {
      case Kind::paragraph:
        out_ += fmt::format("<p>{}</p>\n", inner);
        break;
      case Kind::quote:
        out_ += fmt::format("<blockquote><p>{}</p></blockquote>\n", inner);
        break;
      case Kind::bullet:
      case Kind::numbered:
        out_ += fmt::format("<li>{}</li>\n", inner);
        break;
      case Kind::heading: {
        const int level = std::clamp(level_ + 1, 3, 5);
        out_ += fmt::format("<h{0}>{1}</h{0}>\n", level, inner);
        break;
      }
    }
    kind_.reset();
    text_.clear();
  }

  std::optional<Kind> kind_;
  int level_ = 0;
  bool gap_ = false;
  std::string text_;
  std::string_view list_;
  std::string out_;
};

}  // namespace

std::string markdown_to_html(std::string_view text) {
  Blocks blocks;
  while (!text.empty()) {
    const auto end = text.find('\n');
    blocks.add(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return blocks.html();
}

std::string markdown_spans_to_html(std::string_view text) { return Spans(trimmed(text)).html(); }

}  // namespace millrace::templates
