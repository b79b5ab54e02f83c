// RestStore: tables and functions for clients of PostgREST and supabase-js, under their role.
//
// Reading goes through row security and the tenant of the call. Writing runs functions: insert and
// upsert on shell_files take an object of the caller's and enqueue its first job, update and delete
// touch own rows and listed columns; what a service says of an export goes through the fence of its
// delivery; everything else of jobs is written by nobody here (42501). Errors carry the SQLSTATE
// that PostgREST's clients look for: 42P01 no such table, 42703 no such column, 42883 no such
// function or arguments, 42501, 23505; PT406 where one row was wanted and there is another number,
// PT400 where more rows match than one write may change. Threading and lifetime: as ApiSession,
// which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/rest_query.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

struct RestRows {
  std::string rows_json;  // An array.
  std::int64_t returned = 0;
  std::optional<std::int64_t> total;  // Where it was asked for.
};

// What the answer of a write holds. What does not hold is found out in its transaction, which then
// leaves nothing behind.
struct RestWanted {
  bool rows = true;              // False: only how many there are.
  bool single = false;           // Exactly one.
  std::int64_t rows_max = 1000;  // That may be changed at once.
};

struct RestInsert {
  std::string table;
  std::string rows_json;  // An array of objects.
  enum class OnConflict { error, ignore, merge } on_conflict = OnConflict::error;
  std::string conflict_columns = {};      // "idempotency_key"; empty: the primary key.
  std::vector<std::string> columns = {};  // Of the answer; empty: all.
  RestWanted wanted = {};
};

struct RestCall {
  std::string function;
  std::string args_json = "{}";
  bool reading = false;  // By GET: nothing may be written.
  bool single = false;   // Of a function that returns a set: exactly one row.
};

struct RestAnswer {
  std::string body_json;  // A value, or an array where the function returns a set.
  bool is_void = false;
};

class RestStore {
 public:
  virtual ~RestStore() = default;

  // What there is. Read once, and again after a migration.
  virtual Task<RestSurfacePtr> rest_surface() = 0;

  virtual Task<RestRows> select_rows(CallContext caller, RestSurfacePtr surface,
                                     RestQuery query) = 0;
  virtual Task<RestRows> insert_rows(CallContext caller, RestSurfacePtr surface,
                                     RestInsert insert) = 0;
  // `query`: which rows, and the columns of the answer.
  virtual Task<RestRows> update_rows(CallContext caller, RestSurfacePtr surface, RestQuery query,
                                     std::string patch_json, RestWanted wanted) = 0;
  virtual Task<RestRows> delete_rows(CallContext caller, RestSurfacePtr surface, RestQuery query,
                                     RestWanted wanted) = 0;
  virtual Task<RestAnswer> call_function(CallContext caller, RestSurfacePtr surface,
                                         RestCall call) = 0;
};

std::unique_ptr<RestStore> make_rest_store(ApiSession& session);

}  // namespace millrace::store
