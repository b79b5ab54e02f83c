// The narrative for people: sentences with marks like [f2], and where each marked fact stands.
//
// Sentences come from a model and quotes from a stranger's document. In Markdown both are escaped,
// so neither can become a link, a picture or HTML; in plain text their square brackets become round
// ones. A mark in square brackets is therefore always ours.
#pragma once

#include "layout/clinical/extraction.h"
#include "layout/clinical/narrative.h"
#include "output/document_info.h"
#include "output/evidence_table.h"

#include <string>

namespace millrace::output {

struct NarrativeInput {
  const layout::clinical::Narrative& narrative;
  const layout::clinical::Extraction& extraction;
  const EvidenceTable& evidence;
  const DocumentInfo& info;
  bool missing = false;  // It could not be made: that is said.
};

std::string narrative_markdown(const NarrativeInput& input);
std::string narrative_plain(const NarrativeInput& input);

}  // namespace millrace::output
