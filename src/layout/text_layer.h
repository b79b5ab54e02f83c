// Text layers: whether the text that a PDF page brings along may be believed.
//
// A text layer is exact and costs milliseconds, but some are worthless: codes without meaning where
// fonts have no table, single letters, somebody's bad OCR, a stamp on a scan. Those pages are
// rendered and read instead.
#pragma once

#include "layout/raw_page.h"

#include <string_view>

namespace millrace::layout {

struct TextLayerRules {
  std::size_t characters_min = 20;
  double unreadable_max = 0.05;     // Share of characters without meaning: U+FFFD, private use.
  double symbols_max = 0.5;         // Share that is neither letter nor digit.
  double single_letters_max = 0.6;  // Share of words that are one letter.
  double no_vowel_max = 0.4;        // Share of longer Latin words without a vowel.
  double no_box_max = 0.2;          // Share of words without a size.
};

struct TextLayerVerdict {
  bool trusted = false;
  std::string_view reason = {};  // Why not.
};

TextLayerVerdict judge_text_layer(const RawPage& page, TextLayerRules rules = {});

}  // namespace millrace::layout
