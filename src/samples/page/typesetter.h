// Typesetter: the state of typeset(): the page being filled and the height that is left.
#pragma once

#include "samples/page/typeset.h"

#include <span>

namespace millrace::samples {

class Typesetter {
 public:
  Typesetter(const Document& document, Letters& letters);

  std::vector<SheetPage> finish() &&;

  void place(const Paragraph& paragraph);
  void place(const Table& table);
  void place(const Fields& fields);
  void place(const Checks& checks);
  void place(const Columns& columns);
  void place(const Rule& rule);
  void place(const Gap& gap);
  void place(const Signature& signature);
  void place(const Letterhead& letterhead);
  void place(const PageBreak& page_break);

 private:
  SheetPage& page() { return pages_.back(); }
  void begin_page();
  void need(double height_pt);  // Begins a page when there is not so much left.
  double width() const;

  void next_line() { ++line_; }
  void next_block() {
    ++block_;
    ++line_;
  }
  // Draws a measured line with its left end at x and the line's top at y.
  void put(const MeasuredLine& line, const Style& style, double x, double y, double ascent);
  void put_lines(const MeasuredText& text, const Style& style, double x, double y, double width);
  void put_text(std::string_view text, const Style& style, double x, double y, double width);
  void take_facts(const Prose& prose);
  double emblem(Point at);  // Gives its width.

  struct Cells {
    std::vector<MeasuredText> texts;
    double height = 0;
  };
  Cells measure_row(const Table& table, const TableRow& row, std::span<const double> widths);
  void place_row(const Table& table, const TableRow& row, std::span<const double> widths, bool odd);
  void frame_table(const Table& table, std::span<const double> widths, double top);

  const Document& document_;
  Letters& letters_;
  std::vector<SheetPage> pages_;
  double y_ = 0;
  double bottom_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t block_ = 0;
};

}  // namespace millrace::samples
