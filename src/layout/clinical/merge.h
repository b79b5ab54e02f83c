// Merge: a long document is passed over in parts that overlap; here the parts become one again.
//
// Ids are given anew, so parts need not know of each other: e1, e2 … in the order of the document.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/narrative.h"

#include <span>
#include <vector>

namespace millrace::layout::clinical {

// Grounded parts. Entities of one category that mostly cover the same text are one: the surer
// stays, the longer of equally sure ones. The type of the document is what most parts say, by
// confidence.
Detection merge_detections(std::vector<Detection> parts);

// Parts over the same entities. Facts of one type, subject and assertion with the same name are one
// when neither says anything that the other contradicts and they share evidence, or say the same;
// the result knows what either knew. Relations and reasons follow.
Extraction merge_extractions(std::vector<Extraction> parts);

// The same, with what each fact was made of: what is known of the parts' facts beside what they say
// (where they were sent, say) follows by this and by nothing else. Evidence would not do: one date
// is evidence of every result beside it.
struct FactOrigin {
  std::size_t part = 0;  // Index of the part, and of the fact in it.
  std::size_t fact = 0;
  friend bool operator==(const FactOrigin&, const FactOrigin&) = default;
};
struct MergedExtraction {
  Extraction extraction = {};
  std::vector<std::vector<FactOrigin>> origins = {};  // One for each fact, none of them empty.
};
MergedExtraction merge_with_origins(std::vector<Extraction> parts);

// Parts over the same facts, one after the other; what is said twice is said once.
Narrative merge_narratives(std::vector<Narrative> parts);

// Facts that cannot all be right: one name with different doses, or affirmed here and negated
// there.
std::vector<Conflict> find_conflicts(const Extraction& extraction);

// Units that are written as people write them become UCUM codes where those are known.
void normalise_units(Extraction& extraction);

}  // namespace millrace::layout::clinical
