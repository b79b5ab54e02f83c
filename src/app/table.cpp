#include "app/table.h"

#include "base/assert.h"
#include "base/uuid.h"

#include <algorithm>
#include <optional>

namespace millrace::app {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;  // No column is cut below this.

std::string padded(const Terminal& terminal, const Cell& cell, Table::Align align,
                   std::size_t width, bool last) {
  const auto text = cut_to_width(cell.text, width, terminal.unicode);
  const std::string space(width - std::min(width, display_width(text)), ' ');
  const auto shown = terminal.paint(cell.style, text);
  if (align == Table::Align::right) return space + shown;
  return last ? shown : shown + space;
}

// Takes columns from the widest that may be cut until the line fits; a cut id would be of no use.
void shrink_to(std::size_t line_width, std::vector<std::size_t>& widths,
               const std::vector<bool>& whole) {
  for (;;) {
    std::size_t total = kGap * (widths.size() - 1);
    for (const auto width : widths) total += width;
    if (total <= line_width) return;
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (whole[i] || widths[i] <= kNarrowest) continue;
      if (!widest || widths[i] > widths[*widest]) widest = i;
    }
    if (!widest) return;
    const auto excess = total - line_width;
    auto& width = widths[*widest];
    width = std::max(kNarrowest, width > excess ? width - excess : kNarrowest);
  }
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  MR_ASSERT(row.size() == columns_.size());
  for (auto& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

std::string Table::render(const Terminal& terminal) const {
  std::vector<std::size_t> widths;
  std::vector<bool> whole;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    bool ids = false;
    for (const auto& row : rows_) {
      width = std::max(width, display_width(row[i].text));
      ids = ids || Uuid::parse(row[i].text).has_value();
    }
    widths.push_back(width);
    whole.push_back(ids);
  }
  if (terminal.width > 0) shrink_to(terminal.width, widths, whole);

  std::string out;
  const auto line = [&](auto&& cell_at) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool last = i + 1 == columns_.size();
      out += padded(terminal, cell_at(i), columns_[i].align, widths[i], last);
      if (!last) out.append(kGap, ' ');
    }
    out += '\n';
  };
  line([&](std::size_t i) { return Cell(columns_[i].title, Style::bold); });
  for (const auto& row : rows_) line([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace millrace::app
