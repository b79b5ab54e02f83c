#include "chunk/block_scanner.h"

#include "chunk/line_shapes.h"
#include "chunk/unicode.h"

#include <algorithm>
#include <cstring>

namespace millrace::chunk {
namespace {

// Whether `content` may begin with that character once form feeds are trimmed off.
bool may_be(std::string_view content, char first) {
  return content.starts_with(first) || content.starts_with('\f');
}

bool is_text_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void BlockScanner::release(std::size_t keep) {
  if (waiting_.size() <= keep) return;
  const auto kept = waiting_.end() - static_cast<std::ptrdiff_t>(keep);
  for (auto line = waiting_.begin(); line != kept; ++line) lines.push_back(*line);
  if (keep == 0) {
    waiting_.clear();
  } else {
    waiting_.erase(waiting_.begin(), kept);
  }
  may_be_heading_ = false;
}

void BlockScanner::end_leaf() {
  release(0);
  if (leaf_ == Leaf::fence) marks_.fences.push_back({.at = begin_});
  if (leaf_ == Leaf::table) marks_.tables.push_back({.at = begin_});
  leaf_ = Leaf::none;
}

BlockKind BlockScanner::prose() const {
  if (containers_.depth() == 0) return BlockKind::paragraph;
  return containers_[0].is_item ? BlockKind::list : BlockKind::quote;
}

// Where a part of the line in hand begins.
std::uint64_t BlockScanner::place_of(std::string_view part) const {
  return begin_ + static_cast<std::uint64_t>(part.data() - window_.view(begin_, end_).data());
}

// Looks for form feeds far ahead: there are seldom any, and lines may be short.
void BlockScanner::find_pages() {
  form_feed_ = std::max(form_feed_, begin_);
  while (form_feed_ < end_) {
    const auto rest = window_.view(form_feed_, window_.end());
    form_feed_ += std::min(rest.find('\f'), rest.size());
    if (form_feed_ < end_) marks_.pages.push_back({.at = form_feed_++});
  }
}

std::string_view BlockScanner::begin_line(std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  end_ = end;
  if (form_feed_ < end) find_pages();
  return window_.view(begin, end);
}

void BlockScanner::scan(std::uint64_t begin, std::uint64_t end) {
  in_long_line_ = false;
  scan_line(begin_line(begin, end));
}

void BlockScanner::scan_part(std::uint64_t begin, std::uint64_t end, Part part) {
  const auto text = begin_line(begin, end);
  in_long_line_ = true;
  if (part == Part::first) return scan_line(text);
  if (leaf_ == Leaf::html && !html_end_.empty()) {
    html_tail_.append(text);
    if (contains_lower(html_tail_, html_end_)) leaf_ = Leaf::none;
    html_tail_.erase(0, html_tail_.size() - std::min<std::size_t>(html_tail_.size(), 16));
  }
  const auto kind = last_kind_;
  if (leaf_ == Leaf::paragraph) {
    release(0);
    lines.emplace_back(begin_, end_, kind, Strength::none);
  } else {
    put(kind, Strength::none);
  }
}

void BlockScanner::scan_empty_lines(std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  end_ = end;
  lines.push_back({.begin = begin, .end = end, .empty_lines = true});
}

void BlockScanner::finish() {
  begin_ = end_;
  release(0);
}

void BlockScanner::scan_line(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (text.starts_with('\f')) text.remove_prefix(1);
  if (containers_.depth() > 0 || may_be_matter_ || !scan_plain_line(text)) scan_any_line(text);
}

// At the margin of the document, what the first byte tells.
bool BlockScanner::scan_plain_line(std::string_view text) {
  const char first = text.empty() ? '\n' : text.front();
  if (leaf_ == Leaf::fence && leaf_depth_ == 0) {
    if (first == fence_char_ || first == ' ' || first == '\t') return false;
    put_code();  // It does not end here.
    return true;
  }
  if (leaf_ != Leaf::none && leaf_ != Leaf::paragraph) return false;
  if (is_text_start(first)) {
    // A word: nothing else begins with one, except the header of a table, which waits.
    take_paragraph(Strength::block);
    return true;
  }
  if (first != '\n' || leaf_ != Leaf::none) return false;
  scan_blank();
  return true;
}

void BlockScanner::scan_any_line(std::string_view text) {
  if ((may_be_matter_ || leaf_ == Leaf::front_matter || begin_ == 0) && scan_front_matter(text)) {
    return;
  }
  LineCursor cursor(text);
  const auto matched = containers_.match(cursor);
  const bool held = matched >= leaf_depth_;
  if (leaf_ == Leaf::fence && scan_fence(cursor, held)) return;
  if (leaf_ == Leaf::html && scan_html(text, held)) return;
  if (cursor.is_blank()) {
    // Only a quote needs its mark on a blank line too.
    containers_.truncate(matched);
    return scan_blank();
  }
  const bool all = matched == containers_.depth();
  const auto opened =
      containers_.open(cursor, {.paragraph_open = leaf_ == Leaf::paragraph, .matched = matched});
  auto strength = containers_.depth() == 0 ? Strength::block : Strength::inner;
  if (opened.count > 0) {
    leave();
    const auto fresh = opened.is_sibling ? Strength::item : Strength::block;
    strength = opened.depth == 0 ? fresh : Strength::inner;
    return scan_leaf(text, cursor, strength);
  }
  if (all) return scan_leaf(text, cursor, strength);
  // A paragraph goes on without the marks of its containers, unless something begins here.
  const auto content = cursor.content();
  const bool text_only = !fence_of(content) && !atx_heading_of(content) && !is_rule(content) &&
                         !html_start_of(content);
  if (leaf_ == Leaf::paragraph && text_only) return take_paragraph(strength);
  leave();
  containers_.truncate(matched);
  scan_leaf(text, cursor, matched == 0 ? Strength::block : Strength::inner);
}

bool BlockScanner::scan_front_matter(std::string_view text) {
  if (may_be_matter_) {
    may_be_matter_ = false;
    const bool is_matter = looks_like_yaml(text);
    if (is_matter) {
      leaf_ = Leaf::front_matter;
      waiting_.front().kind = BlockKind::front_matter;
      put(BlockKind::front_matter, Strength::none);
    }
    release(0);
    return is_matter;
  }
  if (leaf_ == Leaf::front_matter) {
    const auto end = trim_blank(text);
    if (end == "---" || end == "..." || end.empty()) leaf_ = Leaf::none;
    put(BlockKind::front_matter, Strength::line);
    return true;
  }
  if (text != "---" || in_long_line_) return false;
  may_be_matter_ = true;  // The next line tells.
  waiting_.emplace_back(begin_, end_, BlockKind::rule, Strength::block);
  return true;
}

bool BlockScanner::scan_fence(const LineCursor& cursor, bool held) {
  if (!held) {
    leave();
    return false;
  }
  if (!may_be(cursor.content(), fence_char_)) {
    put_code();
    return true;
  }
  const auto content = trim_blank(cursor.content());
  const bool closes = content.size() >= fence_size_ && !in_long_line_ &&
                      content.find_first_not_of(fence_char_) == std::string_view::npos &&
                      cursor.indent() <= fence_indent_ + 3;
  if (closes) {
    put(BlockKind::code, Strength::none);
    marks_.fences.push_back({.at = end_});
    leaf_ = Leaf::none;
    return true;
  }
  put_code();
  return true;
}

bool BlockScanner::scan_html(std::string_view text, bool held) {
  if (!held) {
    leave();
    return false;
  }
  if (html_end_.empty()) {
    if (!trim_blank(text).empty()) {
      put(BlockKind::html, Strength::line);
      return true;
    }
    leave();
    return false;
  }
  put(BlockKind::html, Strength::line);
  if (contains_lower(text, html_end_)) leaf_ = Leaf::none;
  html_tail_.assign(text.substr(text.size() - std::min<std::size_t>(text.size(), 16)));
  return true;
}

void BlockScanner::scan_blank() {
  if (leaf_ != Leaf::indented) leave();
  put(BlockKind::blank, Strength::none);
}

void BlockScanner::scan_leaf(std::string_view text, const LineCursor& cursor, Strength strength) {
  const auto content = cursor.content();
  if (content.empty()) {  // An item without text.
    leave();
    return put(prose(), strength);
  }
  const char first = content.front();
  if ((first == '`' || first == '~') && begin_fence(text, cursor, strength)) return;
  const bool indented = cursor.indent() > 3;
  if (indented && leaf_ != Leaf::paragraph && leaf_ != Leaf::table) {
    const bool more = leaf_ == Leaf::indented;
    if (!more) leave();
    leaf_ = Leaf::indented;
    return put(BlockKind::code, more ? Strength::line : strength);
  }
  if (!indented) {
    if (end_setext(content)) return;
    if (first == '#' && begin_heading(content, strength)) return;
    if (begin_table(content)) return;
    if (is_rule(content)) {
      leave();
      return put(BlockKind::rule, strength);
    }
    if (first == '<' && begin_html(content, strength)) return;
  }
  if (leaf_ == Leaf::table) {
    return put(BlockKind::table, leaf_lines_++ == 0 ? Strength::none : Strength::row);
  }
  take_paragraph(strength);
}

void BlockScanner::take_paragraph(Strength strength) {
  if (leaf_ == Leaf::table) {
    return put(BlockKind::table, leaf_lines_++ == 0 ? Strength::none : Strength::row);
  }
  const bool first = leaf_ != Leaf::paragraph;
  if (first) {
    leave();
    leaf_ = Leaf::paragraph;
    may_be_heading_ = true;
  }
  last_kind_ = prose();
  if (!first && !may_be_heading_ && !in_long_line_ && waiting_.size() == 1) {
    // Deep in a long paragraph: only the last line waits.
    lines.push_back(waiting_.front());
    waiting_.front() = {begin_, end_, last_kind_, Strength::none};
    return;
  }
  waiting_.emplace_back(begin_, end_, last_kind_, first ? strength : Strength::none);
  const bool too_long = in_long_line_ || end_ - waiting_.front().begin > kHeadingBytesMax;
  if (!may_be_heading_ || too_long) {
    release(in_long_line_ ? 0 : 1);
    may_be_heading_ = false;
  }
}

bool BlockScanner::begin_fence(std::string_view text, const LineCursor& cursor, Strength strength) {
  const auto content = cursor.content();
  const auto fence = fence_of(content);
  if (!fence || in_long_line_) return false;
  leave();
  put(BlockKind::code, strength);
  leaf_ = Leaf::fence;
  leaf_depth_ = containers_.depth();
  leaf_lines_ = 0;
  fence_char_ = fence->c;
  fence_size_ = fence->size;
  fence_indent_ = cursor.indent();
  const auto before = text.substr(0, text.size() - content.size());
  auto& opened = marks_.fences.emplace_back(Marks::Fence{.at = begin_, .opens = true});
  // A line nobody would write is not repeated.
  if (before.size() + fence->size + fence->info.size() <= kFenceLineMax) {
    opened.text_begin = place_of(text);
    opened.content_begin = place_of(content);
    opened.text_end = opened.text_begin + text.size();
  }
  return true;
}

bool BlockScanner::begin_heading(std::string_view content, Strength strength) {
  const auto heading = atx_heading_of(content);
  if (!heading) return false;
  leave();
  // A heading in a quote or a list is part of it, not of the document's outline.
  if (containers_.depth() > 0) {
    put(BlockKind::heading, strength);
    return true;
  }
  put(BlockKind::heading, Strength::section, heading->level);
  const auto title = place_of(heading->title.empty() ? content : heading->title);
  marks_.headings.emplace_back(begin_, title, title + heading->title.size(), heading->level);
  return true;
}

bool BlockScanner::end_setext(std::string_view content) {
  if (leaf_ != Leaf::paragraph || !may_be_heading_ || waiting_.empty() || in_long_line_) {
    return false;
  }
  const auto level = underline_level_of(content);
  if (level == 0) return false;
  auto& first = waiting_.front();
  const bool section = containers_.depth() == 0;
  if (section) {
    marks_.headings.push_back(
        {.at = first.begin, .title_begin = first.begin, .title_end = begin_, .level = level});
    first.strength = Strength::section;
    first.level = level;
  }
  for (auto& line : waiting_) line.kind = BlockKind::heading;
  put(BlockKind::heading, Strength::none);
  leaf_ = Leaf::none;
  return true;
}

bool BlockScanner::begin_table(std::string_view content) {
  if (leaf_ != Leaf::paragraph || waiting_.empty() || in_long_line_) return false;
  if (!is_delimiter_row(content)) return false;
  const auto header = waiting_.back();
  LineCursor cursor(window_.view(header.begin, header.end));
  static_cast<void>(containers_.match(cursor));
  const auto cells = cell_count(cursor.content());
  if (cells == 0 || cells != std::max<std::size_t>(cell_count(content), 1)) return false;
  auto& row = waiting_.back();
  row.kind = BlockKind::table;
  if (row.strength == Strength::none) {
    row.strength = containers_.depth() == 0 ? Strength::block : Strength::inner;
  }
  put(BlockKind::table, Strength::none);
  const auto size = end_ - header.begin + (window_.view(end_ - 1, end_) == "\n" ? 0 : 1);
  marks_.tables.push_back(
      {.at = header.begin, .opens = true, .header_end = size > kLinePartMax ? header.begin : end_});
  leaf_ = Leaf::table;
  leaf_lines_ = 0;
  return true;
}

bool BlockScanner::begin_html(std::string_view content, Strength strength) {
  const auto html = html_start_of(content);
  if (!html || (leaf_ == Leaf::paragraph && !html->interrupts)) return false;
  leave();
  const bool may_be_page = !in_long_line_ && content.starts_with("<!--");
  const auto page = may_be_page ? page_marker_of(content) : std::nullopt;
  put(page ? BlockKind::page_marker : BlockKind::html, strength);
  if (page) {
    // The line may have form feeds too, behind the marker.
    const auto place = std::ranges::upper_bound(marks_.pages, begin_, {}, &Marks::Page::at);
    marks_.pages.insert(place, {.at = begin_, .number = *page});
  }
  const auto inner = content.substr(std::min<std::size_t>(content.size(), 2));
  if (!html->end.empty() && contains_lower(inner, html->end)) return true;
  leaf_ = Leaf::html;
  leaf_depth_ = containers_.depth();
  html_end_ = html->end;
  if (!html_end_.empty()) {
    html_tail_.assign(content.substr(content.size() - std::min<std::size_t>(content.size(), 16)));
  }
  return true;
}

}  // namespace millrace::chunk
