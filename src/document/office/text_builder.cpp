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
  state_ = budget_.add_text(16 + paragraph.marker.size());
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

bool TextBuilder::may_end_cell() {
  if (!ok_so_far() || !in_table() || tables_.back().table.rows.empty()) return false;
  if (tables_.back().table.rows.back().size() < budget_.columns_max()) return true;
  state_ = refuse("table_columns", "a table has more columns than are allowed");
  return false;
}

void TextBuilder::end_cell(std::size_t columns) {
  if (!may_end_cell()) return;
  auto& table = tables_.back();
  auto& row = table.table.rows.back();
  // What a cell spans beyond that is empty anyway.
  columns = std::clamp<std::size_t>(columns, 1, budget_.columns_max() - row.size());
  state_ = budget_.add_cells(columns);
  if (!ok_so_far()) return;
  row.push_back(std::move(table.cell));
  row.resize(row.size() + columns - 1);
  table.cell.clear();
  table.in_cell = false;
}

void TextBuilder::end_equal_cells(std::size_t times) {
  if (!in_table() || tables_.back().cell.empty()) return end_cell(times);
  const auto cell = tables_.back().cell;
  end_cell();
  for (; times > 1 && may_end_cell(); --times) {
    state_ = budget_.add_text(cell.size());
    if (ok_so_far()) state_ = budget_.add_cells(1);
    if (ok_so_far()) tables_.back().table.rows.back().push_back(cell);
  }
}

void TextBuilder::end_row(std::size_t times) {
  if (!ok_so_far() || !in_table() || tables_.back().table.rows.empty() || times < 2) return;
  auto& rows = tables_.back().table.rows;
  while (!rows.back().empty() && rows.back().back().empty()) rows.back().pop_back();
  std::size_t bytes = 0;
  for (const auto& cell : rows.back()) bytes += cell.size();
  if (bytes == 0) return;
  state_ = budget_.add_text((times - 1) * bytes);
  if (ok_so_far()) state_ = budget_.add_cells((times - 1) * rows.back().size());
  if (!ok_so_far()) return;
  const auto row = rows.back();
  rows.insert(rows.end(), times - 1, row);
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
