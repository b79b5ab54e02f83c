// The facts of one document as a FHIR R4 Bundle of the type collection.
//
// Patient and DocumentReference first, then what the facts became in their order, at last one
// Provenance of the run. Ids are UUIDs of version 5 made of the document and of what the resource
// says, so that the same result gives the same bundle; every reference is a fullUrl of the bundle.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/routing.h"
#include "output/document_info.h"
#include "output/evidence_table.h"

#include <span>
#include <string>
#include <vector>

namespace millrace::output {

struct FhirInput {
  const DocumentInfo& info;
  const layout::clinical::Extraction& extraction;
  const EvidenceTable& evidence;
  // Facts that were rejected are left out, those under review are marked.
  std::span<const layout::clinical::RoutedFact> routed = {};
  std::string document_type = {};        // As pass 1 calls it; may be empty.
  std::vector<std::string> agents = {};  // Who worked on it: "tesseract@5.3", "local@1".
};

// A fact that has no resource, and why. No content: it may go to a log.
struct OmittedFact {
  std::string fact;
  std::string why;
  friend bool operator==(const OmittedFact&, const OmittedFact&) = default;
};

struct FhirBundle {
  std::string bundle = {};  // Canonical JSON.
  std::vector<OmittedFact> omitted = {};
};

// invalid_argument without info.processed_at, a source digest, or agents: provenance must say when,
// of what and by whom.
Result<FhirBundle> fhir_bundle(const FhirInput& input);

}  // namespace millrace::output
