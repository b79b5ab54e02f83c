// HtmlTable: a table while its rows come in; spans become empty cells.
//
// Many tables of the web only place things on the page. One that holds another, or has a single
// row or column, is such a one: its cells are read one after the other.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "document/markdown/markdown_writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::document {

class HtmlTable {
 public:
  explicit HtmlTable(const Limits& limits) : limits_(limits) {}

  struct Span {
    std::uint32_t columns = 1;
    std::uint32_t rows = 1;
  };

  void begin_row();
  void end_row();
  Result<void> add_cell(std::string markdown);  // With `span` and `is_head` as they are.
  bool in_row() const { return in_row_; }

  // Without empty rows and columns.
  TableRows take();
  bool has_heads() const { return has_heads_; }

  bool in_cell = false;
  bool is_layout = false;
  Span span = {};  // Of the open cell.
  bool is_head = false;

 private:
  void fill_spanned();

  const Limits& limits_;
  TableRows rows_;
  std::vector<std::uint32_t> rows_left_;  // By column: how long the cell above reaches down.
  std::uint64_t cells_ = 0;
  bool in_row_ = false;
  bool has_heads_ = false;
};

}  // namespace millrace::document
