#include "chunk/containers.h"

namespace millrace::chunk {

void LineCursor::skip_columns(std::size_t columns) {
  const auto target = column_ + columns;
  column_ += spare_;
  spare_ = 0;
  while (column_ < target && at_ < content_at_) {
    column_ += line_[at_] == '\t' ? 4 - column_ % 4 : 1;
    ++at_;
  }
  if (column_ > target) {
    spare_ = column_ - target;
    column_ = target;
  }
}

ListMarker list_marker_of(std::string_view content) {
  ListMarker marker;
  if (content.empty()) return marker;
  std::size_t size = 0;
  if (content[0] == '-' || content[0] == '+' || content[0] == '*') {
    size = 1;
  } else {
    while (size < content.size() && size < 10 && content[size] >= '0' && content[size] <= '9')
      ++size;
    if (size == 0 || size > 9 || size >= content.size()) return marker;
    if (content[size] != '.' && content[size] != ')') return marker;
    marker.starts_at_one = content.substr(0, size) == "1";
    ++size;
  }
  if (size < content.size() && content[size] != ' ' && content[size] != '\t') return marker;
  marker.size = size;
  marker.is_empty = content.find_first_not_of(" \t", size) == std::string_view::npos;
  return marker;
}

bool is_rule(std::string_view content) {
  if (content.size() < 3) return false;
  const char c = content[0];
  if (c != '-' && c != '*' && c != '_') return false;
  if (rule_end(content) != content.size()) return false;
  return std::ranges::count(content, c) >= 3;
}

std::size_t rule_end(std::string_view content) {
  std::size_t at = 0;
  while (at < content.size() &&
         (content[at] == content[0] || content[at] == ' ' || content[at] == '\t')) {
    ++at;
  }
  return at;
}

std::size_t Containers::match_open(LineCursor& cursor) const {
  // Items go on over blank lines, however deep; only a quote needs its mark there too.
  if (cursor.is_blank()) return first_quote_;
  std::size_t matched = 0;
  for (; matched < depth_; ++matched) {
    const auto& container = open_[matched];
    const auto indent = cursor.indent();
    if (container.is_item) {
      if (indent < container.width) break;
      cursor.skip_columns(container.width);
    } else {
      if (indent > 3 || !cursor.content().starts_with('>')) break;
      cursor.skip_quote();
    }
  }
  return matched;
}

void Containers::push(std::size_t& kept, Opened& opened, const Container& container) {
  if (opened.count == 0) {
    opened.depth = kept;
    opened.is_sibling = container.is_item && kept < depth_ && open_[kept].is_item;
  }
  truncate(kept);
  if (container.is_item && first_quote_ == depth_) ++first_quote_;
  open_[depth_++] = container;
  kept = depth_;
  ++opened.count;
}

Containers::Opened Containers::open_all(LineCursor& cursor, const Opening& opening) {
  Opened opened;
  auto kept = opening.matched;
  const bool all_matched = opening.matched == depth_;
  // "- - - - a": what ends the look for a rule on the first level does so on the others.
  char rule_mark = 0;
  std::size_t no_rule_bytes = 0;
  while (kept < kDepthMax) {
    const auto indent = cursor.indent();
    if (indent > 3) break;
    const auto content = cursor.content();
    if (content.starts_with('>')) {
      cursor.skip_quote();
      push(kept, opened, {});
      continue;
    }
    const auto marker = list_marker_of(content);
    if (marker.size == 0) break;
    const char mark = content[0];
    const bool may_be_rule = mark == '-' || mark == '*';
    if (may_be_rule && (mark != rule_mark || content.size() < no_rule_bytes)) {
      if (is_rule(content)) break;
      rule_mark = mark;
      no_rule_bytes = content.size() - rule_end(content);
    }
    // "1986. A year" and "-" within a paragraph are text, not lists.
    const bool interrupts = opening.paragraph_open && all_matched && opened.count == 0;
    if (interrupts && (marker.is_empty || !marker.starts_at_one)) break;
    cursor.skip_marker(marker.size);
    const auto space = cursor.indent();
    const auto used = marker.is_empty || space > 4 ? 1 : space;
    cursor.skip_columns(used);
    push(kept, opened, {.is_item = true, .width = indent + marker.size + used});
  }
  return opened;
}

}  // namespace millrace::chunk
