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
  bool sure = false;                      // Whether lines run this way at all.
};

Lie look_at(const Gray& image);

struct LevelPage {
  Gray image = {};
  Projection to_source = {};
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

// The image of one line, foot and small letters where the recogniser expects them.
struct LineImage {
  Gray image = {};
  Projection to_level = {};
};
LineImage cut_line(const LevelPage& page, const TextLine& line);

}  // namespace millrace::document
