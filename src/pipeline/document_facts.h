// DocumentFacts: what all pages of a document say together, as pass 3 keeps it.
#pragma once

#include "layout/clinical/extraction.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/routing.h"
#include "pipeline/pass_facts.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

// A document with more facts is told from its first pages; page by page all of them are kept.
inline constexpr std::size_t kDocumentFactsMax = 10'000;

struct DocumentFacts {
  layout::clinical::Extraction extraction = {};  // Evidence: "p3e7", entity e7 of page 3.
  std::vector<layout::clinical::RoutedFact> routed = {};
  layout::clinical::Narrative narrative = {};
  std::string document_type = "other";
  std::string language = {};
};

// Facts that say the same become one. On one page the most cautious route counts; a page that is
// sure by itself settles it for the others. What no page kept is dropped, all else is for review.
DocumentFacts join_pages(std::vector<StoredFacts> pages);

std::string document_facts_json(const DocumentFacts& facts);  // Canonical.
Result<DocumentFacts> read_document_facts(std::string_view text);

}  // namespace millrace::pipeline
