// Flow: a document as lines without a page, for plain text and word processors.
#pragma once

#include "samples/document.h"

#include <string>
#include <vector>

namespace millrace::samples {

struct FlowLine {
  std::vector<std::string> cells;  // One: a paragraph. More: a row of a table.
  bool bold = false;
  bool ends_block = false;
};

struct Flow {
  std::vector<FlowLine> lines = {};
  std::vector<Fact> facts = {};  // All on page 1.
};

Flow flow_of(const Document& document);

// As a reader reads it: a line per line, an empty line after each block.
std::string reading_text(const Flow& flow);
// The same with paragraphs broken at `width` characters, for a text file.
std::string wrapped_text(const Flow& flow, std::size_t width);

}  // namespace millrace::samples
