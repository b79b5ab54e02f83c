#include "api/rest/rest_api.h"
#include "api/rest/rest_error.h"
#include "api/rest/rest_headers.h"
#include "api/rest/rest_request.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::api {
namespace {

// A request about a table whose names are all known.
struct TableCall {
  store::RestSurfacePtr surface;
  RestRequest request;
  RestPreferences preferences;
  RestShape shape = RestShape::array;

  const std::string& table() const { return request.query.table; }
  bool answers_rows() const {
    return preferences.returning == RestPreferences::Return::representation;
  }
};

Result<void> check_names(const TableCall& asked) {
  const auto table = asked.surface->tables.find(asked.table());
  if (table == asked.surface->tables.end()) {
    return rest_refuse(
        "PGRST205", {.message = fmt::format("Could not find the table '{}.{}' in the schema cache",
                                            kRestSchema, asked.table())});
  }
  for (const auto& column : asked.request.columns) {
    if (table->second.contains(column.name)) continue;
    return rest_refuse("42703", {.message = fmt::format("column {}.{} does not exist",
                                                        asked.table(), column.name)});
  }
  for (const auto& column : asked.request.body_columns) {
    if (table->second.contains(column)) continue;
    return rest_refuse(
        "PGRST204",
        {.message = fmt::format("Could not find the '{}' column of '{}' in the schema cache",
                                column, asked.table())});
  }
  return ok();
}

Task<TableCall> open_table(Call& call, RestApi& rest) {
  TableCall asked;
  MR_CO_TRY_VOID(check_schema(call.request));
  MR_CO_TRY(const auto parameters, call.request.query_parameters());
  MR_CO_TRY(asked.surface, co_await rest.surface());
  MR_CO_TRY(asked.request, parse_rest_request(call.parameters.required("table"), parameters));
  MR_CO_TRY(asked.preferences, read_preferences(call.request));
  MR_CO_TRY(asked.shape, read_shape(call.request));
  MR_CO_TRY_VOID(check_names(asked));
  co_return asked;
}

// What the answer holds: all rows, or the one.
Result<Reply> rows_reply(const TableCall& asked, store::RestRows rows, int status) {
  if (asked.request.has_aliases()) {
    MR_TRY(rows.rows_json, rename_columns(asked.request, rows.rows_json));
  }
  if (asked.shape == RestShape::array) {
    return Reply::json_text(std::move(rows.rows_json), status);
  }
  MR_TRY(auto row, only_row(std::move(rows.rows_json), rows.returned));
  return Reply{
      .status = status, .content_type = std::string(kRestObjectType), .body = std::move(row)};
}

Reply finished(const TableCall& asked, Reply reply, std::string range) {
  reply.headers.emplace_back("Content-Range", std::move(range));
  if (!asked.preferences.applied.empty()) {
    reply.headers.emplace_back("Preference-Applied", asked.preferences.applied);
  }
  return reply;
}

std::optional<std::int64_t> counted(const TableCall& asked, const store::RestRows& rows) {
  return asked.preferences.count ? std::optional(rows.returned) : std::nullopt;
}

Result<std::int64_t> add_offsets(std::int64_t offset, std::int64_t more) {
  if (more <= std::numeric_limits<std::int64_t>::max() - offset) return offset + more;
  return rest_refuse("PGRST103", {.message = "Requested range not satisfiable",
                                  .details = "offset and Range together are too large."});
}

// 416 for an offset behind all rows, 206 for some of them. Only where they were counted.
Result<int> read_status(const store::RestRows& rows, std::int64_t offset) {
  if (!rows.total) return 200;
  if (offset > *rows.total) {
    return rest_refuse(
        "PGRST103",
        {.message = "Requested range not satisfiable",
         .details = fmt::format("An offset of {} was requested, but there are only {} rows.",
                                offset, *rows.total)});
  }
  return rows.returned < *rows.total ? 206 : 200;
}

// Rows are changed by naming them. Without a filter it would be all of them.
Result<void> check_filtered(const TableCall& asked, std::string_view verb) {
  if (asked.request.query.offset > 0) {
    return rest_refuse("PGRST100", {.message = "offset is not offered where rows are changed"});
  }
  if (!asked.request.query.filters.empty()) return ok();
  return rest_refuse("21000", {.message = fmt::format("{} requires a WHERE clause", verb),
                               .hint = "Name the rows by a filter, such as id=eq.…"});
}

// Who wants one row must not change several: the transaction that writes is the one that counts.
store::RestWanted wanted(const TableCall& asked, const RestApi& rest) {
  return {.rows = asked.answers_rows(),
          .single = asked.shape == RestShape::object,
          .rows_max = rest.limits().rows_max};
}

Result<Reply> change_reply(const TableCall& asked, store::RestRows rows, bool with_positions) {
  auto range = content_range(0, with_positions ? rows.returned : 0, counted(asked, rows));
  if (!asked.answers_rows()) return finished(asked, Reply::empty(204), std::move(range));
  MR_TRY(auto reply, rows_reply(asked, std::move(rows), 200));
  return finished(asked, std::move(reply), std::move(range));
}

}  // namespace

Task<Reply> rest_read(Call& call, RestApi& rest) {
  MR_CO_TRY(auto asked, co_await open_table(call, rest));
  auto& query = asked.request.query;
  MR_CO_TRY(const auto range, read_range(call.request));
  if (range) {
    MR_CO_TRY(query.offset, add_offsets(query.offset, range->offset));
    if (range->limit) query.limit = std::min(*range->limit, query.limit.value_or(*range->limit));
  }
  const auto most = rest.limits().rows_max;
  query.limit = std::min(query.limit.value_or(most), most);
  query.count = asked.preferences.count;
  const auto offset = query.offset;
  auto rows = co_await rest.store().select_rows(call.context(), asked.surface, query);
  if (!rows) co_return fail(rest_denial(call, asked.table(), std::move(rows).error()));
  MR_CO_TRY(const auto status, read_status(*rows, offset));
  auto told = content_range(offset, rows->returned, rows->total);
  // One row is all of what was asked for, however many the count says.
  const bool single = asked.shape == RestShape::object;
  MR_CO_TRY(auto reply, rows_reply(asked, *std::move(rows), single ? 200 : status));
  co_return finished(asked, std::move(reply), std::move(told));
}

Task<Reply> rest_insert(Call& call, RestApi& rest) {
  MR_CO_TRY(auto asked, co_await open_table(call, rest));
  if (!asked.request.query.filters.empty()) {
    co_return rest_refuse("PGRST100", {.message = "an insert takes no filters",
                                       .details = asked.request.query.filters.front().column});
  }
  const auto* array = call.body.if_array();
  store::RestRows rows{.rows_json = "[]", .returned = 0, .total = {}};
  if (array == nullptr || !array->empty()) {
    store::RestInsert insert{
        .table = asked.table(),
        .rows_json = array == nullptr ? fmt::format("[{}]", call.body_text) : call.body_text,
        .on_conflict = asked.preferences.resolution.value_or(store::RestInsert::OnConflict::error),
        .conflict_columns = asked.request.conflict_columns,
        .columns = asked.request.query.columns,
        .wanted = wanted(asked, rest)};
    auto inserted =
        co_await rest.store().insert_rows(call.context(), asked.surface, std::move(insert));
    if (!inserted) co_return fail(rest_denial(call, asked.table(), std::move(inserted).error()));
    rows = *std::move(inserted);
  }
  auto range = content_range(0, 0, counted(asked, rows));
  if (!asked.answers_rows()) co_return finished(asked, Reply::empty(201), std::move(range));
  MR_CO_TRY(auto reply, rows_reply(asked, std::move(rows), 201));
  co_return finished(asked, std::move(reply), std::move(range));
}

Task<Reply> rest_update(Call& call, RestApi& rest) {
  MR_CO_TRY(const auto asked, co_await open_table(call, rest));
  MR_CO_TRY_VOID(check_filtered(asked, "UPDATE"));
  auto rows = co_await rest.store().update_rows(call.context(), asked.surface, asked.request.query,
                                                call.body_text, wanted(asked, rest));
  if (!rows) co_return fail(rest_denial(call, asked.table(), std::move(rows).error()));
  co_return change_reply(asked, *std::move(rows), true);
}

Task<Reply> rest_delete(Call& call, RestApi& rest) {
  MR_CO_TRY(const auto asked, co_await open_table(call, rest));
  MR_CO_TRY_VOID(check_filtered(asked, "DELETE"));
  auto rows = co_await rest.store().delete_rows(call.context(), asked.surface, asked.request.query,
                                                wanted(asked, rest));
  if (!rows) co_return fail(rest_denial(call, asked.table(), std::move(rows).error()));
  co_return change_reply(asked, *std::move(rows), false);
}

}  // namespace millrace::api
