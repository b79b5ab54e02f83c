// Document: what a sample says and in which shape, before anybody has measured a letter.
//
// Writers (writing/) make it; page/typeset.h turns it into pages, files/docx.h and plain text take
// it as it is. Values only.
#pragma once

#include "samples/language.h"
#include "samples/prose.h"

#include <string>
#include <variant>
#include <vector>

namespace millrace::samples {

enum class Face { serif, sans, mono, narrow, dejavu, dejavu_serif };
enum class Align { left, right, centre };

struct Style {
  Face face = Face::serif;
  double size_pt = 11;
  bool bold = false;
  bool italic = false;
  double grey = 0;  // 0 black, 1 white.
  Align align = Align::left;
};

// One or more lines ('\n' parts them) that stay together on a page.
struct Paragraph {
  Prose text;
  Style style = {};
  double indent_pt = 0;
  std::string marker = {};  // "•" or "1." before the first line.
  double after_pt = 8;
};

struct Column {
  std::string title;
  double share = 1;  // Of the width.
  Align align = Align::left;
};

enum class TableLook { grid, rules, zebra, plain };

struct TableRow {
  std::vector<Prose> cells;
  std::vector<Fact> facts = {};  // Of the whole row; their text is the row's.
  bool bold = false;             // A heading within the table: its one cell spans the row.
};

struct Table {
  std::vector<Column> columns;
  std::vector<TableRow> rows;
  Style style = {};
  TableLook look = TableLook::rules;
  bool titles = true;
  double after_pt = 10;
};

// "Name: Jane Doe", in one or two columns, read row by row.
struct Fields {
  struct Pair {
    std::string key;
    Prose value;
  };
  std::vector<Pair> pairs;
  int columns = 2;
  Style style = {};
  bool boxed = false;
  double after_pt = 10;
};

struct Checkbox {
  std::string label;
  bool checked = false;
};

struct Checks {
  std::vector<Checkbox> boxes;
  int per_row = 3;
  Style style = {};
  double after_pt = 8;
};

// Text that flows through columns of equal height.
struct Columns {
  std::vector<Paragraph> paragraphs;
  int count = 2;
  double after_pt = 10;
};

struct Rule {
  double width_pt = 0.8;
  double after_pt = 8;
};

struct Gap {
  double height_pt = 10;
};

// A line drawn by hand; no letters.
struct Signature {
  std::uint64_t seed = 0;
  double after_pt = 2;
};

struct Letterhead {
  std::vector<std::string> lines;       // The first is large.
  std::vector<std::string> aside = {};  // At the right margin, read after the lines.
  Face face = Face::sans;
  bool emblem = true;
  bool centred = false;
  double after_pt = 14;
};

struct PageBreak {};

using Block = std::variant<Paragraph, Table, Fields, Checks, Columns, Rule, Gap, Signature,
                           Letterhead, PageBreak>;

struct Document {
  std::string title;
  Language language = Language::en;
  std::vector<Block> blocks;
  std::string header = {};  // On every page but the first.
  std::string footer = {};  // On every page; {n} and {of} become numbers.
  double margin_pt = 62;
};

}  // namespace millrace::samples
