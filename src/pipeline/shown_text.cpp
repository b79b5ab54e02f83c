#include "pipeline/shown_text.h"

#include "chunk/line_shapes.h"
#include "chunk/unicode.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::pipeline {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
// Spaces of any width, soft hyphens, joiners, marks of direction, of byte order, of lines.
constexpr auto kUnseen = std::to_array<Range>({{0x00, 0x20},
                                               {0x85, 0x85},
                                               {0xa0, 0xa0},
                                               {0xad, 0xad},
                                               {0x1680, 0x1680},
                                               {0x2000, 0x200f},
                                               {0x2028, 0x202f},
                                               {0x205f, 0x206f},
                                               {0x3000, 0x3000},
                                               {0xfeff, 0xfeff}});

bool is_unseen(char32_t c) {
  return std::ranges::any_of(
      kUnseen, [&](const Range& range) { return c >= range.first && c <= range.last; });
}

// "| --- | :-: |", "|   |   |", "---"
bool is_of_rule(char32_t c) { return c == '|' || c == '-' || c == ':' || is_unseen(c); }

}  // namespace

void ShownText::feed(std::string_view piece) {
  while (!found_ && !piece.empty()) {
    const auto size = std::min(piece.find('\n'), piece.size());
    const auto part = piece.substr(0, size);
    if (only_rules_) look_for_rules(part);
    line_ += part.substr(0, kLineMax - std::min(line_.size(), kLineMax));
    // Too long for a mark.
    found_ = !only_rules_ && line_.size() >= kLineMax;
    if (size == piece.size()) return;
    end_line();
    piece.remove_prefix(size + 1);
  }
}

void ShownText::look_for_rules(std::string_view part) {
  std::string joined;
  if (!begun_.empty()) part = joined = std::exchange(begun_, {}).append(part);
  while (only_rules_ && !part.empty()) {
    if (chunk::unfinished_tail(part) == part.size()) {
      begun_ = part;
      return;
    }
    const auto read = chunk::decode(part);
    only_rules_ = read.valid && is_of_rule(read.c);
    part.remove_prefix(read.size);
  }
}

void ShownText::end_line() {
  only_rules_ = only_rules_ && begun_.empty();
  found_ = found_ || (!only_rules_ && !chunk::page_marker_of(line_));
  line_.clear();
  begun_.clear();
  only_rules_ = true;
}

bool shows_text(std::string_view markdown) {
  ShownText text;
  text.feed(markdown);
  text.finish();
  return text.found();
}

bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const auto read = chunk::decode(text);
    if (!read.valid || !is_unseen(read.c)) return false;
    text.remove_prefix(read.size);
  }
  return true;
}

}  // namespace millrace::pipeline
