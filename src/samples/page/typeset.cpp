#include "samples/page/typeset.h"

#include "samples/chance.h"
#include "samples/page/typesetter.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::samples {
namespace {

constexpr double kFooterRoom = 34;

std::string with_numbers(std::string text, std::size_t number, std::size_t count) {
  for (const auto& [mark, value] : {std::pair{"{n}", number}, std::pair{"{of}", count}}) {
    const std::size_t found = text.find(mark);
    if (found != std::string::npos) {
      text.replace(found, std::string_view(mark).size(), fmt::format("{}", value));
    }
  }
  return text;
}

// What a table says of a row: its cells as they are read.
std::string row_text(const TableRow& row) {
  std::string text;
  for (const Prose& cell : row.cells) {
    if (cell.empty()) continue;
    if (!text.empty()) text += ' ';
    text += cell.text();
  }
  return text;
}

}  // namespace

std::vector<SheetPage> typeset(const Document& document, Letters& letters) {
  Typesetter typesetter(document, letters);
  for (const Block& block : document.blocks) {
    std::visit([&](const auto& it) { typesetter.place(it); }, block);
  }
  return std::move(typesetter).finish();
}

Typesetter::Typesetter(const Document& document, Letters& letters)
    : document_(document), letters_(letters) {
  begin_page();
}

double Typesetter::width() const { return pages_.back().width_pt - 2 * document_.margin_pt; }

void Typesetter::begin_page() {
  pages_.emplace_back();
  y_ = document_.margin_pt * 0.85;
  bottom_ =
      page().height_pt - document_.margin_pt * 0.8 - (document_.footer.empty() ? 0 : kFooterRoom);
  line_ = 0;
  block_ = 0;
  if (pages_.size() > 1 && !document_.header.empty()) {
    const Style style = {.face = Face::sans, .size_pt = 8.5, .grey = 0.25};
    put_text(document_.header, style, document_.margin_pt, document_.margin_pt * 0.5, width());
    const double y = document_.margin_pt * 0.5 + 14;
    page().rules.push_back({{document_.margin_pt, y, page().width_pt - document_.margin_pt, y}});
    next_block();
  }
}

std::vector<SheetPage> Typesetter::finish() && {
  if (!document_.footer.empty()) {
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      SheetPage& sheet = pages_[i];
      const std::string text = with_numbers(document_.footer, i + 1, pages_.size());
      const Style style = {.face = Face::sans, .size_pt = 8.5, .grey = 0.2};
      const MeasuredText measured = letters_.measure(text, style, width());
      const double y = sheet.height_pt - document_.margin_pt * 0.8 - 8;
      const std::uint32_t last_block = sheet.items.empty() ? 0 : sheet.items.back().block + 1;
      const std::uint32_t last_line = sheet.items.empty() ? 0 : sheet.items.back().line + 1;
      std::swap(pages_[i], pages_.back());  // put() writes to the last page.
      block_ = last_block;
      line_ = last_line;
      put_lines(measured, style, document_.margin_pt, y, width());
      std::swap(pages_[i], pages_.back());
    }
  }
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    for (Fact& fact : pages_[i].facts) fact.page = static_cast<std::uint32_t>(i + 1);
  }
  return std::move(pages_);
}

void Typesetter::need(double height_pt) {
  if (y_ + height_pt > bottom_ && !page().items.empty()) begin_page();
}

void Typesetter::put(const MeasuredLine& line, const Style& style, double x, double y,
                     double ascent) {
  if (line.words.empty()) return;
  TextItem item = {line.text, style, x, y + ascent, line_, block_, line.words};
  for (SheetWord& word : item.words) {
    word.ink = {word.ink.x0 + x, word.ink.y0 + item.baseline, word.ink.x1 + x,
                word.ink.y1 + item.baseline};
  }
  page().items.push_back(std::move(item));
}

void Typesetter::put_lines(const MeasuredText& text, const Style& style, double x, double y,
                           double width) {
  for (const MeasuredLine& line : text.lines) {
    double left = x;
    if (style.align == Align::right) left += width - line.width;
    if (style.align == Align::centre) left += (width - line.width) / 2;
    put(line, style, left, y, text.ascent);
    y += text.line_height;
    next_line();
  }
}

void Typesetter::put_text(std::string_view text, const Style& style, double x, double y,
                          double width) {
  put_lines(letters_.measure(text, style, width), style, x, y, width);
}

void Typesetter::take_facts(const Prose& prose) {
  page().facts.insert(page().facts.end(), prose.facts().begin(), prose.facts().end());
}

void Typesetter::place(const Paragraph& paragraph) {
  const double marker = paragraph.marker.empty() ? 0 : 16;
  const double left = document_.margin_pt + paragraph.indent_pt + marker;
  const double room = width() - paragraph.indent_pt - marker;
  const MeasuredText text = letters_.measure(paragraph.text.text(), paragraph.style, room);
  // A title does not stand alone at the foot of a page.
  const bool is_title = paragraph.style.bold && paragraph.after_pt <= 4;
  need(text.height() + (is_title ? 4.5 * text.line_height : 0));
  if (!paragraph.marker.empty()) {
    const MeasuredText mark = letters_.measure(paragraph.marker, paragraph.style, 40);
    put(mark.lines[0], paragraph.style, left - marker, y_, mark.ascent);
  }
  put_lines(text, paragraph.style, left, y_, room);
  take_facts(paragraph.text);
  y_ += text.height() + paragraph.after_pt;
  next_block();
}

Typesetter::Cells Typesetter::measure_row(const Table& table, const TableRow& row,
                                          std::span<const double> widths) {
  Cells cells;
  Style style = table.style;
  style.bold = style.bold || row.bold;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const double room = row.cells.size() == 1 ? width() : widths[i] - 8;
    cells.texts.push_back(letters_.measure(row.cells[i].text(), style, room));
    cells.height = std::max(cells.height, cells.texts.back().height());
  }
  cells.height += 6;
  return cells;
}

void Typesetter::place_row(const Table& table, const TableRow& row, std::span<const double> widths,
                           bool odd) {
  const Cells cells = measure_row(table, row, widths);
  Style style = table.style;
  style.bold = style.bold || row.bold;
  if (table.look == TableLook::zebra && odd) {
    page().fills.push_back(
        {{document_.margin_pt, y_, document_.margin_pt + width(), y_ + cells.height}, 0.91});
  }
  // Cells of several lines are read cell by cell; of one line, across.
  double x = document_.margin_pt;
  for (std::size_t i = 0; i < cells.texts.size(); ++i) {
    const MeasuredText& text = cells.texts[i];
    const double room = row.cells.size() == 1 ? width() : widths[i] - 8;
    double y = y_ + 3;
    for (std::size_t k = 0; k < text.lines.size(); ++k) {
      double left = x + 4;
      if (table.columns[i].align == Align::right) left += room - text.lines[k].width;
      if (table.columns[i].align == Align::centre) left += (room - text.lines[k].width) / 2;
      put(text.lines[k], style, left, y, text.ascent);
      y += text.line_height;
    }
    x += widths[i];
  }
  next_line();
  for (const Prose& cell : row.cells) take_facts(cell);
  for (Fact fact : row.facts) {
    fact.text = row_text(row);
    page().facts.push_back(std::move(fact));
  }
  y_ += cells.height;
}

void Typesetter::frame_table(const Table& table, std::span<const double> widths, double top) {
  const double left = document_.margin_pt;
  const double right = left + width();
  if (table.look == TableLook::plain) return;
  page().rules.push_back({{left, top, right, top}, 0.9});
  page().rules.push_back({{left, y_, right, y_}, 0.9});
  if (table.look != TableLook::grid) return;
  double x = left;
  page().rules.push_back({{x, top, x, y_}});
  for (const double w : widths) {
    x += w;
    page().rules.push_back({{x, top, x, y_}});
  }
}

void Typesetter::place(const Table& table) {
  double shares = 0;
  for (const Column& column : table.columns) shares += column.share;
  std::vector<double> widths;
  for (const Column& column : table.columns) widths.push_back(width() * column.share / shares);
  TableRow titles = {.cells = {}, .facts = {}, .bold = true};
  for (const Column& column : table.columns) titles.cells.emplace_back(column.title);

  const double row_height = table.style.size_pt * 1.24 + 6;
  need(row_height * 3);
  double top = y_;
  const auto begin_part = [&] {
    top = y_;
    if (!table.titles) return;
    place_row(table, titles, widths, false);
    page().rules.push_back({{document_.margin_pt, y_, document_.margin_pt + width(), y_}, 0.9});
  };
  begin_part();
  bool odd = true;
  for (const TableRow& row : table.rows) {
    if (y_ + measure_row(table, row, widths).height > bottom_) {
      frame_table(table, widths, top);
      begin_page();
      begin_part();
    }
    place_row(table, row, widths, odd);
    odd = !odd;
    if (table.look == TableLook::grid) {
      page().rules.push_back({{document_.margin_pt, y_, document_.margin_pt + width(), y_}, 0.4});
    }
  }
  frame_table(table, widths, top);
  y_ += table.after_pt;
  next_block();
}

void Typesetter::place(const Rule& rule) {
  page().rules.push_back(
      {{document_.margin_pt, y_, page().width_pt - document_.margin_pt, y_}, rule.width_pt});
  y_ += rule.after_pt;
}

void Typesetter::place(const Gap& gap) { y_ += gap.height_pt; }

void Typesetter::place(const PageBreak&) { begin_page(); }

}  // namespace millrace::samples
