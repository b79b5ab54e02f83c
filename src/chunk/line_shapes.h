// What the content of one line looks like, by itself: a heading, a fence, a delimiter row, an HTML
// block, a page marker. No state; BlockScanner knows when a shape counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::chunk {

std::string_view trim_blank(std::string_view text);  // Spaces, tabs and line ends, both sides.

struct AtxHeading {
  std::uint8_t level = 0;
  std::string_view title;
};
std::optional<AtxHeading> atx_heading_of(std::string_view content);

std::uint8_t underline_level_of(std::string_view content);  // 1 "===", 2 "---", 0 neither.

struct Fence {
  char c = 0;
  std::size_t size = 0;
  std::string_view info;
};
std::optional<Fence> fence_of(std::string_view content);

// Cells of a table row; 0 when there is no bar in it.
std::size_t cell_count(std::string_view content);
bool is_delimiter_row(std::string_view content);

struct HtmlStart {
  std::string_view end;    // What ends the block, in lower case; empty: a blank line.
  bool interrupts = true;  // Also begins inside a paragraph.
};
std::optional<HtmlStart> html_start_of(std::string_view content);
bool contains_lower(std::string_view text, std::string_view lower);  // ASCII, any case.

std::optional<std::uint32_t> page_marker_of(std::string_view content);  // "<!-- page 3 -->"

bool looks_like_yaml(std::string_view line);  // "key: value" or a comment

}  // namespace millrace::chunk
