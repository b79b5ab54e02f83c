#include "document/markdown/markdown_writer.h"

#include "document/bounded/refusal.h"
#include "document/markdown/escape.h"

#include <algorithm>

namespace millrace::document {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr int kHeadingMax = 6;

}  // namespace

void MarkdownWriter::put(std::string_view text) {
  if (!state_.has_value()) return;
  bytes_ += text.size();
  if (bytes_ > bytes_max_) {
    state_ = refuse("text_bytes", "the document has more text than is allowed");
    return;
  }
  piece_ += text;
  if (piece_.size() >= kPieceBytes) flush();
}

void MarkdownWriter::flush() {
  if (!state_.has_value() || piece_.empty()) return;
  state_ = sink_.write({reinterpret_cast<const std::byte*>(piece_.data()), piece_.size()});
  piece_.clear();
}

Result<void> MarkdownWriter::finish() {
  flush();
  return state_;
}

std::string MarkdownWriter::prefix(bool for_blank) {
  std::string out;
  for (auto& container : containers_) {
    if (!container.is_list) {
      out += "> ";
    } else if (container.indent > 0) {
      if (container.marker.empty() || for_blank) {
        out.append(container.indent, ' ');
      } else {
        out += container.marker;
        out.append(container.indent - container.marker.size(), ' ');
        container.marker.clear();
      }
    }
  }
  return out;
}

void MarkdownWriter::blank_line() {
  auto start = prefix(true);
  while (start.ends_with(' ')) start.pop_back();
  put(start.append("\n"));
}

void MarkdownWriter::line(std::string_view text) {
  auto start = prefix(text.empty());
  if (text.empty()) {
    while (start.ends_with(' ')) start.pop_back();
  }
  put(start.append(text).append("\n"));
}

void MarkdownWriter::begin_block() {
  const bool starts_item =
      !containers_.empty() && containers_.back().is_list && !containers_.back().marker.empty();
  if (needs_blank_ && !starts_item) blank_line();
  needs_blank_ = true;
}

void MarkdownWriter::page(std::uint32_t number) {
  containers_.clear();
  too_deep_ = 0;
  begin_block();
  line(page_mark(number));
}

void MarkdownWriter::heading(int level, std::string_view markdown) {
  if (markdown.empty()) return;
  begin_block();
  std::string text(static_cast<std::size_t>(std::clamp(level, 1, kHeadingMax)), '#');
  text.append(" ").append(markdown);
  std::ranges::replace(text, '\n', ' ');
  // Marks at the end would be taken for a closing run.
  if (text.ends_with('#')) text.insert(text.size() - 1, "\\");
  line(text);
}

void MarkdownWriter::paragraph(std::string_view markdown) {
  if (markdown.empty()) return;
  begin_block();
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find('\n'), markdown.size());
    const auto text = escaped_line_start(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (!text.empty() && text != "\\") line(text);
  }
}

void MarkdownWriter::code(std::string_view text, std::string_view language) {
  const auto shown = without_page_marks(text);
  std::string_view rest = shown;
  while (rest.ends_with('\n') || rest.ends_with(' ')) rest.remove_suffix(1);
  while (rest.starts_with('\n')) rest.remove_prefix(1);
  if (rest.empty()) return;
  begin_block();
  const auto fence = fence_for(rest, 3);
  line(fence + std::string(language));
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  line(fence);
}

void MarkdownWriter::table(const TableRows& rows) {
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  if (columns == 0) return;
  begin_block();
  bool head = true;
  for (const auto& row : rows) {
    std::string text = "|";
    for (std::size_t c = 0; c < columns; ++c) {
      text.append(" ").append(c < row.size() ? as_cell(row[c]) : std::string());
      text.append(text.ends_with(' ') ? "|" : " |");
    }
    line(text);
    if (!head) continue;
    head = false;
    std::string drawn = "|";
    for (std::size_t c = 0; c < columns; ++c) drawn += " --- |";
    line(drawn);
  }
}

void MarkdownWriter::rule() {
  begin_block();
  line("---");
}

void MarkdownWriter::raw_line(std::string_view text) {
  put(text);
  put("\n");
  needs_blank_ = true;
}

void MarkdownWriter::begin_list() {
  if (containers_.size() >= kDepthMax) {
    ++too_deep_;
    return;
  }
  if (needs_blank_ && (containers_.empty() || !containers_.back().is_list)) blank_line();
  needs_blank_ = false;
  containers_.push_back({.is_list = true});
}

void MarkdownWriter::begin_item(std::string_view marker) {
  if (containers_.empty() || !containers_.back().is_list) return;
  auto& list = containers_.back();
  // A list that does not begin with 1 cannot stand right under a paragraph.
  const bool interrupts = marker == "-" || marker == "1.";
  const bool under_text =
      containers_.size() > 1 && containers_[containers_.size() - 2].marker.empty();
  if (!list.has_items && !interrupts && under_text) blank_line();
  list.has_items = true;
  list.marker = marker;
  list.indent = marker.size() + 1;
  needs_blank_ = false;
}

void MarkdownWriter::end_list() {
  if (too_deep_ > 0) {
    --too_deep_;
    return;
  }
  if (containers_.empty() || !containers_.back().is_list) return;
  containers_.pop_back();
  needs_blank_ = true;
}

void MarkdownWriter::begin_quote() {
  if (containers_.size() >= kDepthMax) {
    ++too_deep_;
    return;
  }
  if (needs_blank_) blank_line();
  needs_blank_ = false;
  containers_.push_back({});
}

void MarkdownWriter::end_quote() {
  if (too_deep_ > 0) {
    --too_deep_;
    return;
  }
  if (containers_.empty() || containers_.back().is_list) return;
  containers_.pop_back();
  needs_blank_ = true;
}

}  // namespace millrace::document
