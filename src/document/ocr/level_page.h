// LevelPage: a page as the recogniser wants it: upright, level, even light, letters of a good size.
//
// Flow: look_at() finds out how the page lies in the image; make_level() resamples it once by that
// and cleans it. Nothing of the image is lost: `to_source` leads back.
#pragma once

#include "document/ocr/gray.h"
#include "document/ocr/marks.h"
#include "document/ocr/noise.h"
#include "document/ocr/text_lines.h"

#include <optional>
#include <vector>

namespace millrace::document {

// How a page lies in an image.
struct Lie {
  std::optional<layout::Quad> quad = {};  // Corners of the sheet, when a camera saw it.
  int turn_deg = 0;                       // Of the sheet.
  double skew_deg = 0;                    // After that.
  double letter_px = 0;                   // Height of letters in the image; 0 when there are none.
  int contrast = 255;                     // Between paper and ink, in even light.
  bool sure = false;                      // Whether lines run this way at all.
};

Lie look_at(const Gray& image);

struct LevelPage {
  Gray image = {};
  Projection to_source = {};
  int paper = 255;
  std::vector<Mark> marks = {};
  double letter_px = 0;
  std::vector<TextLine> lines = {};
};

struct LevelOptions {
  double letter_px =
      0;              // Letters are made this high; 0: only when they are too small or too large.
  double smooth = 1;  // How much of the grain is taken away.
};

LevelPage make_level(const Gray& image, const Lie& lie, const Noise& noise,
                     const LevelOptions& options = {});
// Upside down. Marks and lines are found anew.
LevelPage turned_over(const LevelPage& page);

// The image of a row: one line, or several short ones that stand level, side by side with less
// white between them. A recogniser reads "11" better when the row around it is there.
struct RowImage {
  struct Piece {
    std::size_t line = 0;  // Of the page's lines.
    double x0 = 0;         // Where it lies in the image, pixels.
    double x1 = 0;
    double shift = 0;  // From there to x of the level page.
  };
  Gray image = {};
  std::vector<Piece> pieces = {};
};
using Row = std::vector<std::size_t>;  // Indexes of lines, from left to right.
std::vector<Row> group_rows(const LevelPage& page);
RowImage cut_row(const LevelPage& page, const Row& row);

}  // namespace millrace::document
