#include "chunk/containers.h"

namespace millrace::chunk {

std::size_t LineCursor::indent() const {
  std::size_t to = column + spare;
  for (auto i = at; i < line.size(); ++i) {
    if (line[i] == ' ') {
      ++to;
    } else if (line[i] == '\t') {
      to += 4 - to % 4;
    } else {
      break;
    }
  }
  return to - column;
}

std::string_view LineCursor::content() const {
  auto i = at;
  while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
  return line.substr(i);
}

void LineCursor::skip_columns(std::size_t columns) {
  const auto target = column + columns;
  column += spare;
  spare = 0;
  while (column < target && at < line.size()) {
    column += line[at] == '\t' ? 4 - column % 4 : 1;
    ++at;
  }
  if (column > target) {
    spare = column - target;
    column = target;
  }
}

void LineCursor::skip_indent() { skip_columns(indent()); }

void LineCursor::skip_bytes(std::size_t bytes) {
  column += spare + bytes;
  spare = 0;
  at += bytes;
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
  if (content.empty()) return false;
  const char c = content[0];
  if (c != '-' && c != '*' && c != '_') return false;
  std::size_t count = 0;
  for (const char other : content) {
    if (other == c) {
      ++count;
    } else if (other != ' ' && other != '\t') {
      return false;
    }
  }
  return count >= 3;
}

std::size_t Containers::match(LineCursor& cursor) const {
  std::size_t matched = 0;
  for (const auto& container : open_) {
    const auto indent = cursor.indent();
    if (container.is_item) {
      if (indent >= container.width) {
        cursor.skip_columns(container.width);
      } else if (!cursor.is_blank()) {
        break;
      }
    } else {
      if (indent > 3 || !cursor.content().starts_with('>')) break;
      cursor.skip_indent();
      cursor.skip_bytes(1);
      if (cursor.indent() > 0) cursor.skip_columns(1);
    }
    ++matched;
  }
  return matched;
}

void Containers::push(std::size_t& kept, Opened& opened, Container container) {
  if (opened.count == 0) {
    opened.depth = kept;
    opened.is_sibling = container.is_item && kept < open_.size() && open_[kept].is_item;
  }
  truncate(kept);
  open_.push_back(container);
  kept = open_.size();
  ++opened.count;
}

Containers::Opened Containers::open(LineCursor& cursor, const Opening& opening) {
  Opened opened;
  auto kept = opening.matched;
  const bool all_matched = opening.matched == open_.size();
  while (kept < kDepthMax) {
    const auto indent = cursor.indent();
    if (indent > 3) break;
    const auto content = cursor.content();
    if (content.starts_with('>')) {
      cursor.skip_indent();
      cursor.skip_bytes(1);
      if (cursor.indent() > 0) cursor.skip_columns(1);
      push(kept, opened, {});
      continue;
    }
    if (is_rule(content)) break;
    const auto marker = list_marker_of(content);
    if (marker.size == 0) break;
    // "1986. A year" and "-" within a paragraph are text, not lists.
    const bool interrupts = opening.paragraph_open && all_matched && opened.count == 0;
    if (interrupts && (marker.is_empty || !marker.starts_at_one)) break;
    cursor.skip_indent();
    cursor.skip_bytes(marker.size);
    const auto space = cursor.indent();
    const auto used = marker.is_empty || space > 4 ? 1 : space;
    cursor.skip_columns(used);
    push(kept, opened, {.is_item = true, .width = indent + marker.size + used});
  }
  return opened;
}

}  // namespace millrace::chunk
