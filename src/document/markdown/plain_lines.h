// What lines of plain text look like: rows of values, entries of a log, numbered headings.
#pragma once

#include "document/markdown/markdown_writer.h"

#include <string_view>
#include <vector>

namespace millrace::document {

using TextLines = std::vector<std::string_view>;

// Lines with equally many tabs, semicolons or commas.
struct DelimitedLines {
  TableRows rows = {};        // Cells in Markdown; nothing when they are no table.
  bool keeps_breaks = false;  // Then each line is still one of its own.
};
DelimitedLines delimited_lines(const TextLines& lines);

// "2026-11-19 04:36", "[04:36:34]", "Nov 19 04:36:34": an entry of a log begins.
bool starts_with_time(std::string_view line);

// A line that stands alone and begins with a number.
struct NumberedHeading {
  int level = 0;         // By the parts of its number; 0: it is no heading.
  bool is_sure = false;  // In capitals. Others may be items of a list just as well.
};
NumberedHeading numbered_heading(std::string_view line);

}  // namespace millrace::document
