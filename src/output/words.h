// Words with their boxes, one by one: for programs (JSON lines) and for spreadsheets (CSV).
//
// Page by page; a document is the concatenation. `bbox` are fractions of the upright page as in
// spatial/1, pixels are those of the page as it was read; `char` counts code points of the page's
// text.
#pragma once

#include "layout/page.h"

#include <string>

namespace millrace::output {

// {"page":1,"i":0,"text":"Metformin","bbox":[…],"px":[133,365,240,384],"conf":0.93,"line":0,
// "block":0,"kind":"text","char":[0,9]} and a line end, for each word.
std::string words_json(const layout::PageMap& page);

std::string words_csv_header();
std::string words_csv(const layout::PageMap& page);

}  // namespace millrace::output
