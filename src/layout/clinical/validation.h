// Validation: whether the result of a pass is true to what came before it.
//
// An entity must be text of the document, a fact must rest on entities, a sentence on facts, and
// numbers must come from where they are said to come from. Findings with Severity::reject make the
// step fail for a person to look at; they are never retried, because a second answer that happens
// to pass is no better than the first.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/finding.h"
#include "layout/clinical/narrative.h"

#include <span>
#include <string>
#include <vector>

namespace millrace::layout::clinical {

// Ids are there once, words cover the bytes, bytes give the text.
std::vector<Finding> validate_detection(const Detection& detection, const SpatialMap& map);

// Evidence exists; names, numbers, dates are in it; units are known; negation and family history
// are not overlooked. A number that is not in the evidence but on its line is for review, one that
// is on neither is refused.
std::vector<Finding> validate_extraction(const Extraction& extraction, const Detection& detection,
                                         const SpatialMap& map);

// Every sentence names facts that exist, and no number that they do not have. `uncertain` are the
// facts that must be said to be so when they are told.
std::vector<Finding> validate_narrative(const Narrative& narrative, const Extraction& extraction,
                                        std::span<const std::string> uncertain = {});

// Without the facts, relations and sentences that findings reject.
Extraction without_rejected(Extraction extraction, std::span<const Finding> findings);
Narrative without_rejected(Narrative narrative, std::span<const Finding> findings);

}  // namespace millrace::layout::clinical
