// Relatives: who a family history is about, by the words before it.
#pragma once

#include "base/json.h"
#include "output/evidence_table.h"

#include <boost/json/object.hpp>

#include <span>

namespace millrace::output::fhir {

// The last relative that the sentence names before the evidence, as a code of v3-RoleCode; without
// one, "family member".
json::Object relationship_of(std::span<const Located* const> evidence);

}  // namespace millrace::output::fhir
