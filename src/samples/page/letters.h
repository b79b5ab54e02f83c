// Letters: measures and breaks text with Pango, always in the same way on every device.
//
// Hinting and rounding are off: a page drawn at 72 or 300 dots per inch has the same line ends.
// Threading: one at a time.
#pragma once

#include "samples/document.h"
#include "samples/page/sheet.h"

#include <memory>
#include <pango/pangocairo.h>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::samples {

struct MeasuredLine {
  std::string text;
  double width = 0;
  std::vector<SheetWord> words;  // Relative to the line's start and baseline.
};

struct MeasuredText {
  std::vector<MeasuredLine> lines;
  double ascent = 0;
  double line_height = 0;
  double height() const { return line_height * static_cast<double>(lines.size()); }
};

struct GObjectFree {
  void operator()(void* object) const;
};
template <class T>
using GObject = std::unique_ptr<T, GObjectFree>;

class Letters {
 public:
  Letters();

  MeasuredText measure(std::string_view text, const Style& style, double width_pt);
  double width_of(std::string_view text, const Style& style);
  // A layout with one line, for drawing.
  GObject<PangoLayout> line_layout(std::string_view text, const Style& style) const;

 private:
  std::vector<std::string_view> lines_of(std::string_view text, const Style& style,
                                         double width_pt) const;
  std::vector<SheetWord> words_of(std::string_view line, const Style& style);

  GObject<PangoFontMap> fonts_;
  GObject<PangoContext> context_;
};

}  // namespace millrace::samples
