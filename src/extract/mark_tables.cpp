// Rows of tables whose header says what stands in their columns.
#include "extract/frequency.h"
#include "extract/marks.h"

#include <algorithm>
#include <cmath>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

constexpr double kSameColumn = 0.04;  // Of the page's width.

std::optional<Column> first_of(std::uint32_t roles, std::initializer_list<Column> wanted) {
  for (const auto role : wanted) {
    if ((roles >> static_cast<unsigned>(role) & 1U) != 0) return role;
  }
  return std::nullopt;
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
    cells.push_back({.column = cell->column,
                     .tokens = page_.tokens_of_words(cell->words),
                     .left = page_.page->words[cell->words.first].box.x0});
  }
  return cells;
}

// The role of a header that can be several depends on the others: "Dosierung" beside "Stärke".
bool TableMarker::read_header(const Passage& row, const std::vector<CellTokens>& cells) {
  std::vector<std::uint32_t> roles;
  std::size_t known = 0;
  for (const auto& cell : cells) {
    auto tokens =
        std::span<const Token>(page_.tokens).subspan(cell.tokens.first, cell.tokens.size());
    while (!tokens.empty() && tokens.back().kind == TokenKind::punct)
      tokens = tokens.first(tokens.size() - 1);
    auto found = tokens.size() <= 6 ? Terms::get().columns(phrase_of(tokens)) : 0;
    // "Reference range (mg/dL)": the part before the bracket.
    if (found == 0) {
      std::size_t n = 0;
      while (n < tokens.size() && n < 6 && !tokens[n].is("(") && !tokens[n].is("/")) ++n;
      if (n > 0 && n < tokens.size()) found = Terms::get().columns(phrase_of(tokens.first(n)));
    }
    roles.push_back(found);
    known += found != 0 ? 1 : 0;
  }
  if (known < 2 || known * 2 < cells.size()) return false;
  Header header{.table = row.table, .known = true};
  bool drug = false;
  bool test = false;
  for (const auto bits : roles) {
    drug |= first_of(bits, {Column::drug}).has_value();
    test |= first_of(bits, {Column::value, Column::range}).has_value();
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto column = cells[i].column;
    if (header.roles.size() <= column) {
      header.roles.resize(column + 1);
      header.left.resize(column + 1, -1);
    }
    auto bits = roles[i];
    if (drug && !test) bits &= ~(1U << static_cast<unsigned>(Column::test));
    for (unsigned role = 0; role <= static_cast<unsigned>(Column::role); ++role) {
      if ((bits >> role & 1U) == 0) continue;
      header.roles[column] = static_cast<Column>(role);
      break;
    }
    header.left[column] = cells[i].left;
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
  return std::ranges::any_of(header_.roles, [role](const auto& one) { return one == role; });
}

std::optional<Column> TableMarker::role_of(const CellTokens& cell) const {
  // A table that goes on in another block has columns of its own: by where they begin.
  if (cell.column < header_.roles.size() &&
      std::abs(header_.left[cell.column] - cell.left) < kSameColumn)
    return header_.roles[cell.column];
  std::optional<Column> best;
  double distance = 1;
  for (std::size_t i = 0; i < header_.roles.size(); ++i) {
    if (header_.left[i] < 0) continue;
    const auto d = std::abs(header_.left[i] - cell.left);
    if (d >= distance) continue;
    distance = d;
    best = header_.roles[i];
  }
  return best;
}

bool TableMarker::mark(const Passage& row, Marks& marks) {
  const auto cells = cells_of(row);
  if (cells.empty()) return false;
  if (read_header(row, cells)) return true;
  if (!header_.known) return false;
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
  const bool has_value = std::ranges::any_of(
      cells, [&](const CellTokens& cell) { return role_of(cell) == Column::value; });
  if (test == nullptr || !has_value) return;
  bool valued = false;
  for (const auto& cell : cells) {
    if (&cell == test) continue;
    const auto role = role_of(cell);
    const auto chart = chart_of(page_, row, cell.tokens, manner_);
    if (chart.items.empty()) continue;
    const auto& first = chart.items.front();
    if (role == Column::value && !valued) {
      const bool number = first.is(Piece::quantity) || first.is(Piece::pressure);
      const auto range =
          read_range(within(cell), cell.tokens.first, page_.page->text, manner_.decimal);
      auto tokens = number ? first.tokens : cell.tokens;
      // "<0.5" reads as a range where nothing stands before it.
      if (!number && range.tokens > 0)
        tokens = {.first = cell.tokens.first, .end = cell.tokens.first + range.tokens};
      // A word that is a mark of the value is none itself.
      if (!number && tokens.size() == 1 && !flag_of(page_.tokens[tokens.first]).empty()) continue;
      valued = marks.add(Category::lab_value, tokens, first.quantity.misread ? kGuessed : kListed);
    } else if (role == Column::unit) {
      const auto unit = read_unit(within(cell), cell.tokens.first, page_.page->text);
      if (unit.tokens > 0)
        marks.add(Category::lab_value,
                  {.first = cell.tokens.first, .end = cell.tokens.first + unit.tokens}, kListed);
    } else if (role == Column::range) {
      std::size_t at = cell.tokens.first;
      while (at < cell.tokens.end && (page_.tokens[at].is("(") || page_.tokens[at].is("["))) ++at;
      const auto range = read_range(within(cell), at, page_.page->text, manner_.decimal);
      if (range.tokens > 0 && at + range.tokens <= cell.tokens.end)
        marks.add(Category::reference_range, {.first = at, .end = at + range.tokens}, kListed);
    }
  }
  if (!valued) return;
  const auto name = trimmed_cell(test->tokens);
  const auto listed =
      Terms::get().longest(page_.tokens, name.first, bit(Is::analyte) | bit(Is::vital));
  marks.add(Category::lab_name, name, listed.tokens > 0 ? kListed : kStructured);
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
