// Grounding: what a model says it saw, put in its place on the page, or refused.
//
// Models give text, page and words, and are wrong about the last two now and then. Each entity is
// looked for where it is said to be, then on the page, then on the pages beside it; what is found
// gets the page's own text, words and bytes, what is not found is not kept. A text that was found
// with some characters different is kept for review, with less confidence. What is for review is
// written on the entity too: ids change when parts are merged, and every fact that rests on the
// entity must know.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/finding.h"
#include "layout/quote.h"

#include <vector>

namespace millrace::layout::clinical {

struct Grounded {
  Detection detection = {};
  std::vector<Finding> findings = {};  // Paths are those of the answer.
};

Grounded ground(Detection answer, const SpatialMap& map, const QuoteOptions& options = {});

}  // namespace millrace::layout::clinical
