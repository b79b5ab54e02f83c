#include "document/office/text_builder.h"

#include <algorithm>

namespace millrace::document {

void TextBuilder::begin_paragraph() {
  if (ok_so_far()) open_.emplace_back();
}

void TextBuilder::end_paragraph() {
  if (!ok_so_far() || open_.empty()) return;
  auto paragraph = std::move(open_.back());
  open_.pop_back();
  emit(std::move(paragraph));
}

void TextBuilder::emit(Paragraph paragraph) {
  // An empty paragraph takes room too, here and on the page.
  state_ = budget_.add_text(16);
  if (!ok_so_far()) return;
  if (!tables_.empty() && tables_.back().in_cell) {
    auto& table = tables_.back();
    if (!paragraph.marker.empty()) paragraph.text.insert(0, paragraph.marker + " ");
    add_to_cell(table, paragraph.text);
    return;
  }
  blocks_.emplace_back(std::move(paragraph));
}

void TextBuilder::add_to_cell(OpenTable& table, std::string_view text) {
  if (text.empty()) return;
  if (!table.cell.empty()) table.cell += '\n';
  table.cell += text;
}

void TextBuilder::add(std::string_view text) {
  if (!ok_so_far() || open_.empty()) return;
  state_ = budget_.add_text(text.size());
  if (ok_so_far()) open_.back().text += text;
}

void TextBuilder::page_break() {
  if (!ok_so_far() || in_table()) return;
  // What the paragraph has so far stays before the break.
  if (!open_.empty() && !open_.back().text.empty()) {
    auto& paragraph = open_.back();
    blocks_.emplace_back(paragraph);
    paragraph.text.clear();
    paragraph.marker.clear();
  }
  blocks_.emplace_back(PageBreak{});
}

void TextBuilder::begin_table() {
  if (ok_so_far()) tables_.emplace_back();
}

void TextBuilder::begin_row() {
  if (ok_so_far() && in_table()) tables_.back().table.rows.emplace_back();
}

void TextBuilder::begin_cell() {
  if (!ok_so_far() || !in_table()) return;
  tables_.back().in_cell = true;
  tables_.back().cell.clear();
}

void TextBuilder::end_cell(std::size_t columns) {
  if (!ok_so_far() || !in_table() || tables_.back().table.rows.empty()) return;
  auto& table = tables_.back();
  auto& row = table.table.rows.back();
  if (row.size() >= budget_.columns_max()) {
    state_ = refuse("table_columns", "a table has more columns than are allowed");
    return;
  }
  // What a cell spans beyond that is empty anyway.
  columns = std::clamp<std::size_t>(columns, 1, budget_.columns_max() - row.size());
  state_ = budget_.add_cells(columns);
  if (!ok_so_far()) return;
  row.push_back(std::move(table.cell));
  row.resize(row.size() + columns - 1);
  table.cell.clear();
  table.in_cell = false;
}

void TextBuilder::end_table() {
  if (!ok_so_far() || !in_table()) return;
  auto table = std::move(tables_.back().table);
  tables_.pop_back();
  if (tables_.empty() || !tables_.back().in_cell) {
    blocks_.emplace_back(std::move(table));
    return;
  }
  for (const auto& row : table.rows) {
    std::string line;
    for (const auto& cell : row) {
      if (cell.empty()) continue;
      if (!line.empty()) line += ' ';
      line += cell;
    }
    add_to_cell(tables_.back(), line);
  }
}

}  // namespace millrace::document
