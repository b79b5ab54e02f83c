// Markdown: passed through line by line, in one form: headings with '#', one blank line between
// blocks, hard breaks as a backslash, no page marks but ours, and fences that end.
#include "document/markdown/escape.h"
#include "document/markdown/readers.h"
#include "layout/code_points.h"

#include <algorithm>

namespace millrace::document {
namespace {

struct Fence {
  char mark = 0;
  std::size_t length = 0;
  explicit operator bool() const { return length > 0; }
};

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

Fence fence_of(std::string_view line) {
  const auto indent = indent_of(line);
  if (indent > 3 || indent == line.size()) return {};
  const auto text = line.substr(indent);
  const char mark = text.front();
  if (mark != '`' && mark != '~') return {};
  const auto length = std::min(text.find_first_not_of(mark), text.size());
  if (length < 3) return {};
  if (mark == '`' && text.substr(length).find('`') != text.npos) return {};
  return {.mark = mark, .length = length};
}

bool closes(const Fence& open, std::string_view line) {
  const auto found = fence_of(line);
  return found && found.mark == open.mark && found.length >= open.length &&
         line.find_first_not_of(" `~") == line.npos;
}

// The level of a heading whose text stands above this line; 0: it is none.
int underline_level(std::string_view line) {
  if (indent_of(line) > 3) return 0;
  const auto text = line.substr(indent_of(line));
  if (text.size() < 2) return text == "=" ? 1 : 0;
  if (text.find_first_not_of('=') == text.npos) return 1;
  return text.find_first_not_of('-') == text.npos ? 2 : 0;
}

bool is_plain_paragraph(std::string_view line) {
  if (indent_of(line) > 3 || line.empty()) return false;
  const auto text = line.substr(indent_of(line));
  const bool item = text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ");
  const bool number = std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
                      text.find_first_of(".)") == text.find_first_not_of("0123456789");
  return !item && !number && std::string_view("#>|<").find(text.front()) == std::string_view::npos;
}

class MarkdownReader {
 public:
  explicit MarkdownReader(ReadContext& context) : context_(context), out_(context.out) {}

  void line(std::string_view raw) {
    auto text = raw;
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    if (fence_) return in_fence(raw, text);
    const bool hard_break = raw.ends_with("  ") && !text.empty() && !text.starts_with('#');
    const int level =
        paragraph_lines_ == 1 && is_plain_paragraph(held_) ? underline_level(text) : 0;
    if (level > 0) {
      held_ =
          std::string(static_cast<std::size_t>(level), '#') + " " + held_.substr(indent_of(held_));
      if (held_.ends_with('\\')) held_.pop_back();
      return release();
    }
    fence_ = fence_of(text);
    const bool ends = text.empty() || text.starts_with('#') || fence_;
    if (std::exchange(held_break_, hard_break) && ends) held_.pop_back();
    release();
    if (text.empty()) {
      paragraph_lines_ = 0;
      blank_ = written_;
      return;
    }
    held_ = std::string(text) + (hard_break ? "\\" : "");
    holds_ = true;
    paragraph_lines_ = fence_ ? 0 : paragraph_lines_ + 1;
    if (fence_) release();
  }

  void finish() {
    release();
    if (fence_) {
      out_.raw_line(std::string(fence_.length, fence_.mark));
      context_.report.warn("open_fence", "a block of code had no end");
    }
  }

 private:
  void in_fence(std::string_view raw, std::string_view text) {
    out_.raw_line(raw);
    if (closes(fence_, text)) fence_ = {};
  }

  void release() {
    if (!std::exchange(holds_, false)) return;
    if (blank_) out_.raw_line("");
    blank_ = false;
    out_.raw_line(held_);
    written_ = true;
    if (context_.report.title.empty() && held_.starts_with("# ")) {
      context_.report.title = clean_title(std::string_view(held_).substr(2));
    }
    // A heading ends its paragraph.
    if (held_.starts_with('#')) {
      paragraph_lines_ = 0;
      blank_ = true;
    }
  }

  ReadContext& context_;
  MarkdownWriter& out_;
  Fence fence_;
  std::string held_;  // The last line, until it is known what stands under it.
  bool holds_ = false;
  bool held_break_ = false;  // It ends with a break that we have written.
  bool blank_ = false;
  bool written_ = false;
  std::size_t paragraph_lines_ = 0;
};

// Some write properties before the text, between lines of "---". Answers what follows.
std::string_view after_front_matter(std::string_view text, ReadContext& context) {
  if (!text.starts_with("---\n")) return text;
  const auto end = text.find("\n---\n", 3);
  constexpr std::size_t kFrontMatterMax = 64 * 1024;
  if (end == text.npos || end > kFrontMatterMax) return text;
  const auto matter = text.substr(4, end < 4 ? 0 : end - 3);
  context.out.code(matter, "yaml");
  context.out.raw_line("");
  const auto title = matter.starts_with("title:") ? 0 : matter.find("\ntitle:");
  if (title != matter.npos) {
    auto value = matter.substr(title + (title == 0 ? 6 : 7));
    value = value.substr(0, value.find('\n'));
    std::string shown = clean_title(value);
    if (shown.size() >= 2 && (shown.front() == '"' || shown.front() == '\'') &&
        shown.back() == shown.front()) {
      shown = shown.substr(1, shown.size() - 2);
    }
    context.report.title = shown;
  }
  return text.substr(end + 5);
}

}  // namespace

Result<void> read_markdown(std::string_view markdown, ReadContext& context) {
  std::string text = without_page_marks(markdown);
  // Line ends of all kinds are one.
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (text[at] == '\r' || text[at] == '\f') {
      lines += '\n';
    } else if (byte >= 0x20 || text[at] == '\n' || text[at] == '\t') {
      lines += text[at];
    }
  }
  auto rest = after_front_matter(lines, context);
  MarkdownReader reader(context);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    reader.line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    MR_TRY_VOID(context.out.state());
  }
  reader.finish();
  return context.out.state();
}

}  // namespace millrace::document
