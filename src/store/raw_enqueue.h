// Enqueue on a libpq connection that belongs to somebody else, in whatever transaction it is in.
//
// Blocking, one round trip; the connection stays usable after an error outside a transaction, and
// aborted inside one, as libpq users expect.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "store/admin_store.h"

#include <vector>

struct pg_conn;

namespace millrace::store {

Result<std::vector<EnqueueAnswer>> enqueue_on(pg_conn* connection, const json::Array& jobs);

}  // namespace millrace::store
