// Reading order: words as a source gave them → lines, blocks, tables, forms and text of one page.
//
// arrange() judges by where words stand only, never by the order in which an engine reported them,
// so every engine's pages are read by one set of rules and a rerun gives the same bytes. It knows
// pages that are slightly slanted, words that run in another direction, and scripts that run from
// right to left. Every word of the source is in the result exactly once.
#pragma once

#include "layout/page.h"
#include "layout/raw_page.h"

namespace millrace::layout {

Result<PageMap> arrange(RawPage page, const PageLimits& limits = {});

}  // namespace millrace::layout
