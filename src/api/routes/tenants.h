// Operations on tenants and patient profiles.
#pragma once

#include "api/operation.h"
#include "store/api/tenants.h"

#include <vector>

namespace millrace::api {

// The store outlives them.
std::vector<Operation> tenant_operations(store::TenantStore& tenants);
std::vector<Operation> profile_operations(store::TenantStore& tenants);

}  // namespace millrace::api
