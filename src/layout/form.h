// Forms: what a page asks and what was filled in: "Name: Jane Doe", "☑ smoker".
//
// Read from words, lines and tables; a mark that only the image shows is not seen here.
#pragma once

#include "layout/page.h"

namespace millrace::layout {

// Fills `pairs` and `checkboxes` from the rest of the page. Running it again changes nothing.
void find_forms(PageMap& page);

}  // namespace millrace::layout
