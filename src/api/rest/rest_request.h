// RestRequest: the query of a table request in PostgREST's language, taken apart.
//
//   ?select=id,done:completed_at&status=eq.pending&created_at=gte.2026-01-01&order=created_at.desc
//
// What is understood: select with columns, aliases and *; filters eq neq lt lte gt gte in is like
// ilike, each also behind `not.`; order with asc, desc, nullsfirst, nullslast; limit, offset,
// on_conflict, columns. Everything else that PostgREST knows is refused by name (PGRST100, or the
// code it has for it): a filter that is silently dropped shows rows that nobody asked for.
// Pure; names are looked up and values become parameters further down (store/api/rest_query.h).
#pragma once

#include "base/result.h"
#include "http/server_request.h"
#include "store/api/rest_query.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::api {

inline constexpr std::size_t kRestColumnsMax = 200;
inline constexpr std::size_t kRestFiltersMax = 100;
inline constexpr std::size_t kRestOrdersMax = 20;
inline constexpr std::size_t kRestListMax = 1000;  // Values of in.(…).

struct RestColumn {
  std::string name;
  std::string alias = {};  // What the answer calls it; empty: its name.

  friend bool operator==(const RestColumn&, const RestColumn&) = default;
};

struct RestRequest {
  store::RestQuery query;             // Its columns: each that is needed, once; none: all.
  std::vector<RestColumn> columns;    // As the answer has them; none: all, under their names.
  bool all_columns = false;           // `*` stands beside them.
  std::string conflict_columns = {};  // on_conflict
  std::vector<std::string> body_columns = {};  // columns

  bool has_aliases() const;
};

Result<RestRequest> parse_rest_request(std::string_view table,
                                       const std::vector<http::QueryParameter>& parameters);

// Parts of it, for tests and for functions.
Result<std::vector<RestColumn>> parse_rest_select(std::string_view text);  // `*` is a column here.
Result<store::RestFilter> parse_rest_filter(std::string_view column, std::string_view text);
Result<std::vector<store::RestOrder>> parse_rest_order(std::string_view text);
// "(a,\"b,c\",d)" → a | b,c | d
Result<std::vector<std::string>> parse_rest_list(std::string_view text);

// The rows with the names and columns that the request wants. For requests with aliases only: the
// database has given all others as they are.
Result<std::string> rename_columns(const RestRequest& request, std::string_view rows_json);

}  // namespace millrace::api
