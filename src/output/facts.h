// Facts for programs (JSON) and spreadsheets (CSV), each with what it rests on.
#pragma once

#include "base/json.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/routing.h"
#include "output/document_info.h"
#include "output/evidence_table.h"

#include <span>
#include <string>

namespace millrace::output {

inline constexpr std::string_view kFactsSchema = "facts/1";

// {"schema":"facts/1","document":{…},"facts":[…],"relations":[…],"rejected":[…]}. A fact is that of
// clinical.extract/1, with `route` and `score` (null without routing) and its evidence in full; an
// entity whose page is not there has null for its page and nothing else. Canonical; made fact by
// fact, since ten thousand of them as values take ten times the room of their text.
std::string facts_json(const layout::clinical::Extraction& extraction,
                       std::span<const layout::clinical::RoutedFact> routed,
                       const EvidenceTable& evidence, const DocumentInfo& info);

// One row a fact. `value` has the fields that are said, as "dose: 500 mg; frequency: twice daily".
std::string facts_csv(const layout::clinical::Extraction& extraction,
                      std::span<const layout::clinical::RoutedFact> routed,
                      const EvidenceTable& evidence);

// "500 mg", "12 – 16"; empty for null.
std::string shown_value(const json::Value& value);

}  // namespace millrace::output
