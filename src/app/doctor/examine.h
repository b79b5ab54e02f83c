// examine: asks a database for the facts and judges them.
#pragma once

#include "app/context.h"
#include "app/doctor/finding.h"

#include <vector>

namespace millrace::app {

// Always at least one finding; a question the database refuses to answer becomes a failed one.
std::vector<Finding> examine(Context& context);

}  // namespace millrace::app
