// SheetPage: one page with everything in its place: letters, rules, boxes, and what a reader sees.
//
// Lengths are points from the upper left corner. `page/typeset.h` makes it, `page/paint.h` draws
// it; the truth (text, words, facts) is read from the same items that are drawn.
#pragma once

#include "samples/document.h"
#include "samples/fact.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::samples {

struct Rect {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;
};

struct SheetWord {
  std::string text;
  Rect ink;  // Where the ink is, not the line's height.
};

// Letters of one style on one line.
struct TextItem {
  std::string text;
  Style style;
  double x = 0;
  double baseline = 0;
  std::uint32_t line = 0;   // Items of one line are read one after the other.
  std::uint32_t block = 0;  // Blocks are parted by an empty line.
  std::vector<SheetWord> words = {};
};

struct RuleItem {
  Rect from_to;
  double width_pt = 0.6;
  double grey = 0;
};

struct FillItem {
  Rect area;
  double grey = 0.9;
};

struct Point {
  double x = 0;
  double y = 0;
};

// A curve through cubic pieces: a start, then three points each.
struct CurveItem {
  std::vector<Point> points;
  double width_pt = 1.2;
  bool blue = false;
  bool filled = false;
};

struct SheetCheckbox {
  std::string label;
  bool checked = false;
  Rect box;
};

struct SheetPage {
  double width_pt = 595.28;  // A4
  double height_pt = 841.89;
  std::vector<FillItem> fills = {};
  std::vector<RuleItem> rules = {};
  std::vector<CurveItem> curves = {};
  std::vector<TextItem> items = {};
  std::vector<SheetCheckbox> checkboxes = {};
  std::vector<Fact> facts = {};

  std::string text() const;  // As a reader reads it: lines, blocks parted by an empty line.
};

}  // namespace millrace::samples
