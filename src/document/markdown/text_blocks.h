// Lines of plain text as blocks: what people mean by blank lines, bullets and columns of blanks.
#pragma once

#include "document/markdown/markdown_writer.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

// The marker of a list item at the start of a line, and the rest. Nothing: it is no item.
struct ListMarker {
  std::string marker = {};  // "-" or "3."
  std::string_view rest = {};
  std::size_t indent = 0;  // Blanks before it.
  explicit operator bool() const { return !marker.empty(); }
};
ListMarker list_marker(std::string_view line);

// Writes lines, none of them empty, as one paragraph, list, table or block of code.
void write_text_block(const std::vector<std::string_view>& lines, MarkdownWriter& out);

// Puts wrapped lines together again: a word that was divided at a line's end becomes one.
class LineJoiner {
 public:
  void add(std::string_view line);
  void line_break();   // The next line begins a new one.
  std::string take();  // As text, lines separated by '\n'.
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
  bool broken_ = true;
};

}  // namespace millrace::document
