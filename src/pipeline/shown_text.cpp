#include "pipeline/shown_text.h"

#include "chunk/line_shapes.h"

#include <algorithm>

namespace millrace::pipeline {
namespace {

// "| --- | :-: |", "|   |   |", "---"
bool is_of_rule(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '|' || c == '-' || c == ':';
}

}  // namespace

void ShownText::feed(std::string_view piece) {
  while (!found_ && !piece.empty()) {
    const auto size = std::min(piece.find('\n'), piece.size());
    const auto part = piece.substr(0, size);
    only_rules_ = only_rules_ && std::ranges::all_of(part, is_of_rule);
    line_ += part.substr(0, kLineMax - std::min(line_.size(), kLineMax));
    // Too long for a mark.
    found_ = !only_rules_ && line_.size() >= kLineMax;
    if (size == piece.size()) return;
    end_line();
    piece.remove_prefix(size + 1);
  }
}

void ShownText::end_line() {
  found_ = found_ || (!only_rules_ && !chunk::page_marker_of(line_));
  line_.clear();
  only_rules_ = true;
}

bool shows_text(std::string_view markdown) {
  ShownText text;
  text.feed(markdown);
  text.finish();
  return text.found();
}

}  // namespace millrace::pipeline
