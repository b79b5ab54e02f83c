// RestApi: tables and functions for clients of PostgREST and supabase-js.
//
// Flow: operations() are entries of the one table of operations, with errors in PostgREST's form.
// A request is taken apart (rest_request.h, rest_headers.h), its names are looked up in what the
// database offers, and RestStore asks as the caller: grants, row security and functions decide.
// What is offered is remembered for a minute, which is how long a new column may take to appear.
// Threading: any. Lifetime: the store and the clock outlive it, and it outlives the operations.
#pragma once

#include "api/call.h"
#include "api/keyed_cache.h"
#include "api/operation.h"
#include "api/reply.h"
#include "base/clock.h"
#include "base/task.h"
#include "store/api/rest.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

struct RestLimits {
  std::int64_t rows_max = 1000;  // In one answer, as on Supabase; more come by limit and offset.
};

class RestApi {
 public:
  RestApi(store::RestStore& store, const Clock& clock, RestLimits limits = {});
  RestApi(const RestApi&) = delete;
  RestApi& operator=(const RestApi&) = delete;

  std::vector<Operation> operations();

  store::RestStore& store() { return store_; }
  const RestLimits& limits() const { return limits_; }
  // What there is.
  Task<store::RestSurfacePtr> surface() { return surface_.get(0); }

 private:
  store::RestStore& store_;
  RestLimits limits_;
  KeyedCache<int, store::RestSurfacePtr> surface_;
};

// The verbs.
Task<Reply> rest_read(Call& call, RestApi& rest);
Task<Reply> rest_insert(Call& call, RestApi& rest);
Task<Reply> rest_update(Call& call, RestApi& rest);
Task<Reply> rest_delete(Call& call, RestApi& rest);
Task<Reply> rest_call(Call& call, RestApi& rest);          // POST: arguments in the body.
Task<Reply> rest_call_reading(Call& call, RestApi& rest);  // GET: in the query, nothing is written.

// What the database refused, in PostgREST's words. To a caller without a right: of a table, not of
// the function behind it; to somebody who did not say who it is, that this comes first.
Error rest_denial(const Call& call, std::string_view table, Error error);

// The one row of an answer in its own brackets; PGRST116 where there are none or several.
Result<std::string> only_row(std::string rows_json, std::int64_t returned);

}  // namespace millrace::api
