// Facts as FHIR R4 resources.
//
// A machine has read them, so they are unconfirmed, preliminary or unknown wherever FHIR has a word
// for it. What is negated becomes refuted, not-taken or not-done where the resource can say so and
// is left out where it cannot; it is never affirmed. What is said of a relative becomes a
// FamilyMemberHistory or nothing, and what is only imagined ("return if fever") nothing.
#pragma once

#include "base/json.h"
#include "layout/clinical/extraction.h"
#include "output/evidence_table.h"

#include <boost/json/object.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::output::fhir {

struct Links {
  std::string patient = {};  // Full URLs.
  std::string document = {};
};

// Either a resource without id, or why there is none.
struct Projection {
  std::optional<json::Object> resource = {};
  std::string_view omitted = {};
};

// Of every type but Patient: there is one patient, whatever number of facts speak of it.
Projection project(const layout::clinical::Fact& fact, const Links& links,
                   const EvidenceTable& evidence);

// Of the facts that speak of the patient, the surest first: it fills what those before it left
// open, and other names are kept beside the first.
json::Object patient_resource(std::span<const layout::clinical::Fact* const> facts,
                              std::string_view patient_id);

// What a practitioner does and where, when the fact says so.
std::optional<json::Object> practitioner_role(const layout::clinical::Fact& fact,
                                              std::string_view practitioner);

}  // namespace millrace::output::fhir
