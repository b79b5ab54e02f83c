// RestQuery: one table call as a client of PostgREST words it, and the SQL for it.
//
// Names come from outside: each is looked up in the surface and quoted, values are parameters, so
// nothing that a client sends becomes SQL text. Every select is confined to the tenant of the call,
// whatever the role: service_role passes by row security. Threading: values.
#pragma once

#include "base/result.h"
#include "pg/params.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

struct RestArgument {
  std::string name;
  std::string type;
  bool optional = false;
};

struct RestFunction {
  std::vector<RestArgument> args;
  bool returns_set = false;
  bool returns_void = false;
  bool read_only = false;
};

struct RestSurface {
  std::map<std::string, RestFunction, std::less<>> functions;
  // Of each table, its columns and their types.
  std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> tables;

  // From the answer of millrace.rest_surface().
  static Result<RestSurface> parse(std::string_view text);
};

// Shared by all requests that began with it, while a newer one takes its place.
using RestSurfacePtr = std::shared_ptr<const RestSurface>;

struct RestFilter {
  enum class Op { eq, neq, lt, lte, gt, gte, in, is, like, ilike };
  std::string column;
  Op op = Op::eq;
  std::vector<std::string> values;  // One, but for `in`. Of `is`: null, true, false.
  bool negated = false;
};

struct RestOrder {
  std::string column;
  bool descending = false;
  std::optional<bool> nulls_first = {};
};

struct RestQuery {
  std::string table;
  std::vector<std::string> columns = {};  // Empty: all.
  std::vector<RestFilter> filters = {};
  std::vector<RestOrder> orders = {};
  std::optional<std::int64_t> limit = {};
  std::int64_t offset = 0;
  bool count = false;  // How many there are without limit and offset.
};

// SQL text whose values are in `params`; built piece by piece.
class RestSql {
 public:
  // 42P01 for a table that is not offered.
  static Result<RestSql> make(const RestSurface& surface, std::string_view table);

  // "r.\"id\", r.\"status\""; all where none is named. 42703 names the column that does not exist.
  Result<std::string> columns(const std::vector<std::string>& names, std::string_view alias) const;
  // "(select … from millrace.shell_files r where …)": the rows in scope that the filters let pass.
  Result<std::string> rows(const RestQuery& query, std::string_view columns);
  Result<std::string> order(const std::vector<RestOrder>& orders) const;
  // "\"id\" uuid, …": all columns with their types.
  std::string record() const;

  std::string parameter(std::string_view value);  // "$3"
  pg::Params take_params() { return std::move(params_); }

 private:
  RestSql(const RestSurface& surface, std::string_view table) : surface_(surface), table_(table) {}
  Result<std::string> column(std::string_view name) const;
  Result<std::string> condition(const RestFilter& filter);

  const RestSurface& surface_;
  std::string table_;
  pg::Params params_;
};

// `select … from millrace.f(…)` with the arguments of a JSON object, as $1. 42883 where there is no
// such function, or the arguments do not fit.
Result<std::string> rest_call_sql(const RestSurface& surface, std::string_view function,
                                  std::string_view args_json);

}  // namespace millrace::store
