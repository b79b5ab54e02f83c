// Escaping: text of a document as Markdown that shows it and means nothing more.
//
// Whatever a document says, it stays text: no heading, list, table, link, fence, tag or page mark
// comes of it. What would mean nothing anyway ("a * b", "1 < 2", "snake_case") is left as it is,
// because people and models read the Markdown itself.
#pragma once

#include <string>
#include <string_view>

namespace millrace::document {

// Adds a piece of text to a line of Markdown. White space is taken as it comes; controls are
// dropped. `next` is what will follow, if that is known.
void append_escaped(std::string& out, std::string_view text, char next = '\0');
std::string escaped(std::string_view text);

// For a finished line that must not begin a block: "# 1", "- x", "3. y", "---".
std::string escaped_line_start(std::string_view line);

// One row of a cell: line ends become <br>.
std::string as_cell(std::string_view inline_markdown);

// The line that stands before each page, without its end: "<!-- page 3 -->".
std::string page_mark(std::uint32_t page);
// In text that is kept as it is (code, Markdown): what could be taken for a page mark gets a space
// after "<!".
std::string without_page_marks(std::string_view text);

// A link's target as it stands between parentheses; empty when it leads nowhere that can be told
// (scripts, data, places within the page, too long).
std::string link_target(std::string_view url);

// A run of backticks that `text` does not have, `least` at least.
std::string fence_for(std::string_view text, std::size_t least);

}  // namespace millrace::document
