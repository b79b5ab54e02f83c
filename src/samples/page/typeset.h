// typeset: a document becomes pages.
//
// Blocks go down the page in order; a block that does not fit begins the next page, tables and
// columns break between rows and lines. Facts get the page that their block stands on.
#pragma once

#include "samples/document.h"
#include "samples/page/letters.h"
#include "samples/page/sheet.h"

#include <vector>

namespace millrace::samples {

std::vector<SheetPage> typeset(const Document& document, Letters& letters);

}  // namespace millrace::samples
