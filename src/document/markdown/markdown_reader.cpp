// Markdown: passed through line by line, in one form: headings with '#', one blank line between
// blocks, hard breaks as a backslash, no page marks but ours, and fences that end.
#include "chunk/containers.h"
#include "chunk/line_shapes.h"
#include "document/markdown/escape.h"
#include "document/markdown/readers.h"

#include <algorithm>
#include <utility>

namespace millrace::document {
namespace {

using chunk::Containers;
using chunk::LineCursor;

struct Fence {
  char mark = 0;
  std::size_t length = 0;
  std::size_t depth = 0;  // Containers around it.
  explicit operator bool() const { return length > 0; }
};

// What is set in by so much is code, unless a paragraph goes on.
constexpr std::size_t kCodeIndent = 4;

Fence fence_of(const LineCursor& cursor, std::size_t depth) {
  const auto found =
      cursor.indent() < kCodeIndent ? chunk::fence_of(cursor.content()) : std::nullopt;
  return found ? Fence{.mark = found->c, .length = found->size, .depth = depth} : Fence{};
}

bool closes(const Fence& open, const LineCursor& cursor) {
  const auto found = fence_of(cursor, open.depth);
  return found && found.mark == open.mark && found.length >= open.length &&
         chunk::trim_blank(cursor.content()).find_first_not_of(open.mark) == std::string_view::npos;
}

// The level of a heading whose text stands above this line; 0: it is none.
int underline_level(const LineCursor& cursor) {
  if (cursor.indent() >= kCodeIndent) return 0;
  const auto text = chunk::trim_blank(cursor.content());
  // A lone '-' may be an empty item.
  return text == "-" ? 0 : chunk::underline_level_of(text);
}

bool is_plain_paragraph(std::string_view line) {
  const LineCursor cursor(line);
  return !cursor.is_blank() && cursor.indent() < kCodeIndent &&
         std::string_view("#|<").find(cursor.content().front()) == std::string_view::npos;
}

class MarkdownReader {
 public:
  explicit MarkdownReader(ReadContext& context) : context_(context), out_(context.out) {}

  void line(std::string_view raw) {
    LineCursor cursor(raw);
    const auto matched = containers_.match(cursor);
    if (fence_ && matched >= fence_.depth) return in_fence(raw, cursor);
    fence_ = {};  // What it stood in has ended.
    auto text = raw;
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    if (text.empty()) return blank_line();
    place(cursor, matched);
    const auto content = cursor.content();
    const bool top = containers_.depth() == 0;
    const int level = top && holds_ && paragraph_lines_ == 1 && is_plain_paragraph(held_)
                          ? underline_level(cursor)
                          : 0;
    if (level > 0) return end_heading(level);
    fence_ = fence_of(cursor, containers_.depth());
    const bool set_in = cursor.indent() >= kCodeIndent;
    const bool code = !fence_ && paragraph_lines_ == 0 && set_in;
    const bool rule = !set_in && chunk::is_rule(content);
    const bool heading = !set_in && chunk::atx_heading_of(content).has_value();
    const bool ends = cursor.is_blank() || heading || fence_ || code || rule;
    const bool row = content.starts_with('|');
    const bool hard_break = raw.ends_with("  ") && !ends && !row;
    // A break before what is no line of the same paragraph breaks nothing: an item, a quote.
    const bool new_block = ends || paragraph_lines_ == 0;
    if (std::exchange(held_break_, hard_break) && new_block) held_.pop_back();
    release();
    held_ = code ? std::string(raw) : std::string(text) + (hard_break ? "\\" : "");
    holds_ = true;
    in_code_ = code;
    paragraph_lines_ = ends ? 0 : paragraph_lines_ + 1;
    if (fence_) release();
  }

  void finish() {
    if (std::exchange(held_break_, false)) held_.pop_back();
    release();
    if (!fence_) return;
    std::string end;
    for (std::size_t i = 0; i < fence_.depth; ++i) {
      end += containers_[i].is_item ? std::string(containers_[i].width, ' ') : "> ";
    }
    out_.raw_line(end.append(fence_.length, fence_.mark));
    context_.report.warn("open_fence", "a block of code had no end");
  }

 private:
  void in_fence(std::string_view raw, const LineCursor& cursor) {
    out_.raw_line(raw);
    if (closes(fence_, cursor)) fence_ = {};
  }

  // Which lists and quotes the line stands in. A paragraph goes on without their marks.
  void place(LineCursor& cursor, std::size_t matched) {
    const bool all = matched == containers_.depth();
    const bool paragraph = paragraph_lines_ > 0;
    const auto opened = containers_.open(cursor, {.paragraph_open = paragraph, .matched = matched});
    if (opened.count > 0) {
      paragraph_lines_ = 0;
      return;
    }
    if (all) return;
    const auto content = cursor.content();
    const bool begins_block = chunk::fence_of(content) || chunk::atx_heading_of(content) ||
                              chunk::is_rule(content) || chunk::html_start_of(content);
    const bool set_in = cursor.indent() >= kCodeIndent;
    if (paragraph && !cursor.is_blank() && (set_in || !begins_block)) return;
    containers_.truncate(matched);
    paragraph_lines_ = 0;
  }

  void blank_line() {
    LineCursor cursor({});
    containers_.truncate(containers_.match(cursor));
    if (std::exchange(held_break_, false)) held_.pop_back();
    release();
    paragraph_lines_ = 0;
    if (written_) ++blanks_;
  }

  void end_heading(int level) {
    if (std::exchange(held_break_, false)) held_.pop_back();
    std::string text(LineCursor(held_).content());
    // Marks at the end, behind a blank, would be taken for a closing run.
    const auto last = text.find_last_not_of('#');
    const bool closing_run = last + 1 < text.size() && (text[last] == ' ' || text[last] == '\t');
    if (closing_run) text.insert(last + 1, "\\");
    held_ = std::string(static_cast<std::size_t>(level), '#') + " " + text;
    paragraph_lines_ = 0;
    release();
  }

  void release() {
    if (!std::exchange(holds_, false)) return;
    // One blank line between blocks; those within code are part of it.
    const auto blanks = in_code_ && was_code_ ? blanks_ : std::min<std::size_t>(blanks_, 1);
    for (std::size_t i = 0; i < blanks; ++i) out_.raw_line("");
    blanks_ = 0;
    out_.raw_line(held_);
    written_ = true;
    was_code_ = in_code_;
    if (context_.report.title.empty() && held_.starts_with("# ")) {
      context_.report.title = clean_title(std::string_view(held_).substr(2));
    }
    // A blank line stands behind each heading.
    if (chunk::atx_heading_of(held_)) blanks_ = 1;
  }

  ReadContext& context_;
  MarkdownWriter& out_;
  Containers containers_;
  Fence fence_;
  std::string held_;  // The last line, until it is known what stands under it.
  bool holds_ = false;
  bool held_break_ = false;  // It ends with a break that we have written.
  bool in_code_ = false;     // It is code by how far it is set in,
  bool was_code_ = false;    // and so was the one before it.
  std::size_t blanks_ = 0;   // Since the last line that was written.
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
