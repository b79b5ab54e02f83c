// Rows of tables whose header says what stands in their columns.
#include "extract/frequency.h"
#include "extract/marks.h"

#include <algorithm>
#include <cmath>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

constexpr double kColumnReach = 0.12;  // Of the page's width.
constexpr double kGap = 0.9;           // Heights of words between the heads of columns.

bool has_role(std::uint32_t roles, Column role) {
  return (roles >> static_cast<unsigned>(role) & 1U) != 0;
}

}  // namespace

std::vector<TableMarker::CellTokens> TableMarker::cells_of(const Passage& row) const {
  std::vector<CellTokens> cells;
  const auto& table = page_.page->tables[static_cast<std::size_t>(row.table)];
  const auto first_word = page_.tokens[row.tokens.first].word;
  const auto last_word = page_.tokens[row.tokens.end - 1].word;
  const auto begin = std::ranges::lower_bound(
      table.cells, first_word, {}, [](const layout::Cell& cell) { return cell.words.first; });
  for (auto cell = begin; cell != table.cells.end() && cell->words.first <= last_word; ++cell) {
    cells.push_back({.tokens = page_.tokens_of_words(cell->words),
                     .left = page_.page->words[cell->words.first].box.x0,
                     .right = page_.page->words[cell->words.last].box.x1});
  }
  return cells;
}

// A header may stand in one block with a form above it, whose columns are not its own.
std::vector<TableMarker::CellTokens> TableMarker::parts_of(const Passage& row) const {
  std::vector<CellTokens> parts;
  const auto& words = page_.page->words;
  const auto first = page_.tokens[row.tokens.first].word;
  const auto last = page_.tokens[row.tokens.end - 1].word;
  const auto aspect = page_.page->info.aspect();
  auto begin = first;
  for (auto word = first; word <= last; ++word) {
    const bool ends =
        word == last ||
        words[word + 1].box.x0 - words[word].box.x1 >
            kGap * aspect * std::max(words[word].box.height(), words[word + 1].box.height());
    if (!ends) continue;
    parts.push_back({.tokens = page_.tokens_of_words({.first = begin, .last = word}),
                     .left = words[begin].box.x0,
                     .right = words[word].box.x1});
    begin = word + 1;
  }
  return parts;
}

std::uint32_t TableMarker::roles_of(const CellTokens& cell) const {
  auto tokens = std::span<const Token>(page_.tokens).subspan(cell.tokens.first, cell.tokens.size());
  while (!tokens.empty() && tokens.back().kind == TokenKind::punct)
    tokens = tokens.first(tokens.size() - 1);
  const auto whole =
      tokens.size() <= kPhraseTokensMax ? Terms::get().columns(phrase_of(tokens)) : 0;
  if (whole != 0) return whole;
  // "Reference range (mg/dL)": the part before the bracket.
  std::size_t n = 0;
  while (n < tokens.size() && n < kPhraseTokensMax && !tokens[n].is("(") && !tokens[n].is("/")) ++n;
  return n > 0 && n < tokens.size() ? Terms::get().columns(phrase_of(tokens.first(n))) : 0;
}

// The role of a header that can be several depends on the others: "Dosierung" beside "Stärke".
bool TableMarker::read_header(const Passage& row) {
  const auto parts = parts_of(row);
  if (parts.size() > 16) return false;
  std::size_t known = 0;
  bool drug = false;
  bool measured = false;
  for (const auto& part : parts) {
    const auto roles = roles_of(part);
    known += roles != 0 ? 1 : 0;
    drug |= has_role(roles, Column::drug);
    measured |= has_role(roles, Column::value) || has_role(roles, Column::range);
  }
  if (known < 2 || known * 2 < parts.size()) return false;
  Header header{.table = row.table};
  for (const auto& part : parts) {
    auto roles = roles_of(part);
    if (drug && !measured) roles &= ~(1U << static_cast<unsigned>(Column::test));
    HeaderCell cell{.left = part.left, .right = part.right};
    for (unsigned role = 0; role <= static_cast<unsigned>(Column::role) && !cell.role; ++role) {
      if ((roles >> role & 1U) != 0) cell.role = static_cast<Column>(role);
    }
    header.cells.push_back(cell);
  }
  header_ = std::move(header);
  return true;
}

// Without the signs around it; brackets inside belong to a name ("ALT (GPT)").
TokenRange TableMarker::trimmed_cell(TokenRange cell) const {
  const auto idle = [&](std::size_t at) {
    const auto& token = page_.tokens[at];
    return token.kind == TokenKind::punct && !token.is(")") && !token.is("(") && !token.is("%");
  };
  while (!cell.empty() && idle(cell.first)) ++cell.first;
  while (!cell.empty() && idle(cell.end - 1)) --cell.end;
  return cell;
}

std::span<const Token> TableMarker::within(const CellTokens& cell) const {
  return std::span<const Token>(page_.tokens).first(cell.tokens.end);
}

bool TableMarker::has(Column role) const {
  return std::ranges::any_of(header_.cells,
                             [role](const HeaderCell& cell) { return cell.role == role; });
}

// By where it stands: columns are set to their left, their right or their middle.
std::optional<Column> TableMarker::role_of(const CellTokens& cell) const {
  std::optional<Column> best;
  double distance = kColumnReach;
  for (const auto& head : header_.cells) {
    const auto middle = std::abs(head.left + head.right - cell.left - cell.right) / 2;
    const auto d =
        std::min({std::abs(head.left - cell.left), std::abs(head.right - cell.right), middle});
    if (d >= distance) continue;
    distance = d;
    best = head.role;
  }
  return best;
}

bool TableMarker::mark(const Passage& row, Marks& marks) {
  const auto cells = cells_of(row);
  if (cells.empty()) return false;
  if (read_header(row)) return true;
  if (header_.cells.empty()) return false;
  const auto kind = page_.section_of(row).kind;
  const bool other_table = header_.table != row.table;
  // Another table under another heading has nothing to do with this header.
  if (other_table && has(Column::value) && kind != "lab_results" && kind != "vital_signs" &&
      !kind.empty() && kind != "other" && kind != "demographics")
    return false;
  if (cells.size() < 2) return false;
  if (has(Column::drug)) {
    mark_drug_row(row, cells, marks);
  } else if (has(Column::value) && (has(Column::test) || has(Column::range) || has(Column::unit))) {
    mark_lab_row(row, cells, marks);
  } else if (has(Column::allergen) || has(Column::condition) || has(Column::procedure) ||
             has(Column::vaccine)) {
    mark_plain_row(row, cells, marks);
  } else {
    return false;
  }
  return true;
}

void TableMarker::mark_drug_row(const Passage& row, const std::vector<CellTokens>& cells,
                                Marks& marks) const {
  for (const auto& cell : cells) {
    const auto role = role_of(cell);
    auto chart = chart_of(page_, row, cell.tokens, manner_);
    if (chart.items.empty()) continue;
    if (role == Column::drug) {
      // The name goes as far as no strength begins.
      std::size_t end = 0;
      while (end < chart.items.size()) {
        const auto& item = chart.items[end];
        if (item.is(Piece::quantity) && is_dose_unit(item.quantity.unit.kind)) break;
        if (item.is(Piece::frequency) || item.is(Piece::route) || chart.sign(end, "(") ||
            chart.sign(end, ","))
          break;
        if (item.is(Piece::form) && !chart.token(end).caps && end > 0) break;
        ++end;
      }
      if (end == 0) continue;
      const auto name =
          trimmed(page_, {.first = cell.tokens.first, .end = chart.items[end - 1].tokens.end});
      const bool listed = chart.items[0].is(Is::drug);
      marks.add(Category::medication_name, name.empty() ? cell.tokens : name,
                listed ? kListed : kStructured);
    }
    if (role == Column::indication) {
      marks.add(Category::condition, cell.tokens, kContextual);
      continue;
    }
    for (const auto& item : chart.items) {
      if (item.is(Piece::frequency)) marks.add(Category::frequency, item.tokens, kListed);
      if (item.is(Piece::route)) marks.add(Category::route, item.tokens, kListed);
      if (item.is(Piece::duration)) marks.add(Category::duration, item.tokens, kListed);
      if (item.is(Piece::quantity) && is_dose_unit(item.quantity.unit.kind))
        marks.add(Category::dose, item.tokens, kListed);
    }
    if (role == Column::frequency) marks.add(Category::frequency, cell.tokens, kStructured);
    if (role == Column::route) marks.add(Category::route, cell.tokens, kStructured);
  }
}

void TableMarker::mark_lab_row(const Passage& row, const std::vector<CellTokens>& cells,
                               Marks& marks) const {
  const CellTokens* test = nullptr;
  for (const auto& cell : cells) {
    if (role_of(cell) == Column::test && test == nullptr) test = &cell;
  }
  if (test == nullptr && role_of(cells.front()) != Column::value) test = &cells.front();
  if (test == nullptr) return;
  bool valued = false;
  for (const auto& cell : cells) {
    if (&cell == test || cell.tokens.empty()) continue;
    valued |= mark_lab_cell(row, cell, valued, marks);
  }
  if (!valued) return;
  const auto name = trimmed_cell(test->tokens);
  const auto listed =
      Terms::get().longest(page_.tokens, name.first, bit(Is::analyte) | bit(Is::vital));
  marks.add(Category::lab_name, name, listed.tokens > 0 ? kListed : kStructured);
}

// What a cell is is seen by what stands in it; its column decides where that is not enough. True:
// it was the value.
bool TableMarker::mark_lab_cell(const Passage& row, const CellTokens& cell, bool valued,
                                Marks& marks) const {
  const auto role = role_of(cell);
  const auto tokens = within(cell);
  const auto& text = page_.page->text;
  auto first = cell.tokens.first;
  // "H" is a mark before it is an hour.
  if (cell.tokens.size() == 1 && !flag_of(tokens[first]).empty()) return false;
  const auto unit = read_unit(tokens, first, text);
  if (unit.tokens == cell.tokens.size() && role != Column::value) {
    marks.add(Category::lab_value, {.first = first, .end = first + unit.tokens}, kListed);
    return false;
  }
  while (first + 1 < cell.tokens.end && (tokens[first].is("(") || tokens[first].is("["))) ++first;
  const auto range = read_range(tokens, first, text, manner_.decimal);
  const bool both = range.low && range.high;
  if (range.tokens > 0 && (role == Column::range || (valued && (both || role != Column::value)))) {
    marks.add(Category::reference_range, {.first = first, .end = first + range.tokens}, kListed);
    return false;
  }
  if (valued || role == Column::range || role == Column::date) return false;
  const auto chart = chart_of(page_, row, cell.tokens, manner_);
  const auto& item = chart.items.front();
  if (item.is(Piece::quantity) || item.is(Piece::pressure)) {
    return marks.add(Category::lab_value, item.tokens, item.quantity.misread ? kGuessed : kListed);
  }
  // "<0.5" reads as a range where nothing stands before it.
  if (range.tokens > 0 && !both) {
    return marks.add(Category::lab_value, {.first = first, .end = first + range.tokens}, kListed);
  }
  // A word is a result only in the column of results.
  if (role != Column::value) return false;
  return marks.add(Category::lab_value, cell.tokens, kStructured);
}

void TableMarker::mark_plain_row(const Passage& row, const std::vector<CellTokens>& cells,
                                 Marks& marks) const {
  for (const auto& cell : cells) {
    const auto name = trimmed_cell(cell.tokens);
    if (name.empty()) continue;
    switch (role_of(cell).value_or(Column::role)) {
      case Column::allergen:
        marks.add(Category::allergen, name, kStructured);
        break;
      case Column::reaction:
        marks.add(Category::reaction, name, kStructured);
        break;
      case Column::condition:
        marks.add(Category::condition, name, kStructured);
        break;
      case Column::procedure:
        marks.add(Category::procedure, name, kStructured);
        break;
      case Column::vaccine:
        marks.add(Category::immunization, name, kStructured);
        break;
      case Column::lot:
        marks.add(Category::identifier, name, kStructured);
        break;
      default:
        break;
    }
  }
  (void)row;
}

}  // namespace millrace::extract
