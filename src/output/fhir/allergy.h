// Allergies, and the statement that there are none, which is a finding of its own.
#pragma once

#include "output/fhir/resources.h"

namespace millrace::output::fhir {

Projection allergy(const layout::clinical::Fact& fact, const Links& links);

}  // namespace millrace::output::fhir
