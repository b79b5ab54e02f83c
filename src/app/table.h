// Table: rows of text for people, aligned, cut to the terminal.
//
// The widest column gives way when the terminal is too narrow, ids never do; in a file or a pipe
// nothing is cut. Cells are made printable when they are added, so any text from the database may
// be passed.
#pragma once

#include "app/terminal.h"

#include <string>
#include <vector>

namespace millrace::app {

struct Cell {
  std::string text;
  Style style = Style::plain;

  Cell(std::string value, Style look = Style::plain) : text(std::move(value)), style(look) {}
  Cell(const char* value, Style look = Style::plain) : text(value), style(look) {}
  Cell(long long value) : text(group_digits(value)) {}
};

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row);  // As many cells as columns.
  bool empty() const { return rows_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  std::string render(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

inline Table::Column left(std::string title) { return {std::move(title), Table::Align::left}; }
inline Table::Column right(std::string title) { return {std::move(title), Table::Align::right}; }

}  // namespace millrace::app
