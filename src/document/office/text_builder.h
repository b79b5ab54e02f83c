// TextBuilder: what the readers of word processors and slides share: paragraphs and tables from
// elements that open and close in any nesting.
//
// A paragraph within a paragraph (a text box) is put before it; a table within a cell becomes text
// of the cell. Counts against the package's budget; state() says when it is over.
#pragma once

#include "document/office/flow.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::document {

class TextBuilder {
 public:
  explicit TextBuilder(TextBudget& budget) : budget_(budget) {}

  void begin_paragraph();
  void end_paragraph();
  bool in_paragraph() const { return !open_.empty(); }
  Paragraph& paragraph() { return open_.back(); }  // While there is one.
  void add(std::string_view text);                 // To the open paragraph, if any.
  void page_break();

  void begin_table();
  void begin_row();
  void begin_cell();
  void end_cell(std::size_t columns = 1);   // How many it spans.
  void end_equal_cells(std::size_t times);  // Written once; empty ones only keep their places.
  bool cell_is_empty() const { return !in_table() || tables_.back().cell.empty(); }
  void end_row(std::size_t times = 1);  // Likewise: a row without text is there once.
  void end_table();
  bool in_table() const { return !tables_.empty(); }

  std::vector<FlowBlock> take() { return std::exchange(blocks_, {}); }
  bool empty() const { return blocks_.empty(); }
  const Result<void>& state() const { return state_; }

 private:
  struct OpenTable {
    TextTable table = {};
    std::string cell = {};
    bool in_cell = false;
  };

  bool ok_so_far() const { return state_.has_value(); }
  bool may_end_cell();
  void emit(Paragraph paragraph);
  void add_to_cell(OpenTable& table, std::string_view text);

  TextBudget& budget_;
  std::vector<Paragraph> open_;
  std::vector<OpenTable> tables_;
  std::vector<FlowBlock> blocks_;
  Result<void> state_ = ok();
};

}  // namespace millrace::document
