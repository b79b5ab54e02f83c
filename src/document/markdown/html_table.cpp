#include "document/markdown/html_table.h"

#include "document/bounded/refusal.h"

#include <algorithm>

namespace millrace::document {

void HtmlTable::begin_row() {
  end_row();
  rows_.emplace_back();
  in_row_ = true;
}

void HtmlTable::end_row() {
  if (!in_row_) return;
  fill_spanned();
  in_row_ = false;
}

// Cells of rows above that reach down to here.
void HtmlTable::fill_spanned() {
  auto& row = rows_.back();
  while (row.size() < rows_left_.size() && rows_left_[row.size()] > 0) {
    --rows_left_[row.size()];
    row.emplace_back();
    ++cells_;
  }
}

Result<void> HtmlTable::add_cell(std::string markdown) {
  if (!in_row_) begin_row();
  fill_spanned();
  auto& row = rows_.back();
  if (row.size() >= limits_.table_columns_max) {
    return refuse("table_columns", "a table has more columns than are allowed");
  }
  const auto first = row.size();
  const auto room = limits_.table_columns_max - first;
  const auto columns = std::clamp<std::size_t>(span.columns, 1, room);
  row.push_back(std::move(markdown));
  row.resize(first + columns);
  cells_ += columns;
  if (cells_ > limits_.table_cells_max) {
    return refuse("table_cells", "a table has more cells than are allowed");
  }
  if (span.rows > 1) {
    rows_left_.resize(std::max(rows_left_.size(), row.size()));
    std::fill(rows_left_.begin() + static_cast<std::ptrdiff_t>(first),
              rows_left_.begin() + static_cast<std::ptrdiff_t>(row.size()), span.rows - 1);
  }
  has_heads_ = has_heads_ || is_head;
  return ok();
}

TableRows HtmlTable::take() {
  end_row();
  std::vector<bool> used;
  for (const auto& row : rows_) {
    used.resize(std::max(used.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) used[c] = used[c] || !row[c].empty();
  }
  TableRows out;
  for (auto& row : rows_) {
    if (std::ranges::all_of(row, &std::string::empty)) continue;
    auto& kept = out.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (used[c]) kept.push_back(std::move(row[c]));
    }
  }
  rows_.clear();
  rows_left_.clear();
  return out;
}

}  // namespace millrace::document
