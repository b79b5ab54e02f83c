// Operations on the audit.
#pragma once

#include "api/operation.h"
#include "store/api/evidence.h"
#include "store/api/jobs_read.h"

#include <vector>

namespace millrace::api {

// The stores outlive them.
std::vector<Operation> audit_operations(store::EvidenceStore& evidence, store::JobReader& jobs);

}  // namespace millrace::api
