#include "store/api/rest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::store {
namespace {

// Which function writes a table, by what is to be done; empty: nobody writes it here.
struct Writers {
  std::string_view insert;          // Of the rows, the word for conflicts, all columns.
  std::string_view update;          // Of what `named` gives, the patch, all columns.
  std::string_view remove;          // Of what `named` gives.
  std::string_view named = "r.id";  // How the writers are told of a row.
};

Writers writers_of(std::string_view table) {
  if (table == "shell_files") {
    return {.insert = "millrace.put_shell_files({0}, {1}) w",
            .update = "millrace.update_shell_files({0}::uuid[], {1}) w",
            .remove = "millrace.delete_shell_files({0}::uuid[]) w"};
  }
  if (table == "export_history") {
    return {.insert =
                "pg_catalog.jsonb_array_elements({0}::jsonb) e"
                " cross join lateral millrace.create_export_history(e) w",
            .update = "millrace.update_export_history({0}::uuid[], {1}) w",
            .remove = "millrace.delete_export_history({0}::uuid[]) w"};
  }
  // The one way to a new export, and what becomes of a delivery; grants say for whom. Nothing else
  // of a job is written by tables.
  if (table == "export_jobs") {
    return {.insert =
                "millrace.put_export_jobs({0}) j"
                " cross join lateral pg_catalog.jsonb_to_record(j) w({2})",
            .update =
                "millrace.update_export_jobs({0}, {1}) j"
                " cross join lateral pg_catalog.jsonb_to_record(j) w({2})",
            .remove = {},
            .named = "pg_catalog.concat(r.id, ' ', r.locked_by)"};
  }
  return {};
}

std::unexpected<Error> denied(std::string_view table) {
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = fmt::format("permission denied for table {}", table),
                    .sqlstate = "42501"});
}

std::string_view word_of(RestInsert::OnConflict on_conflict) {
  switch (on_conflict) {
    case RestInsert::OnConflict::error:
      return "error";
    case RestInsert::OnConflict::ignore:
      return "ignore";
    case RestInsert::OnConflict::merge:
      return "merge";
  }
  return "error";
}

// The statement of a read: rows, how many, and how many there are in all.
Result<pg::Statement> select_statement(const RestSurface& surface, const RestQuery& query) {
  MR_TRY(auto sql, RestSql::make(surface, query.table));
  MR_TRY(const auto columns, sql.columns(query.columns, "r"));
  MR_TRY(auto rows, sql.rows(query, columns));
  std::string total = "null::bigint";
  if (query.count) {
    // With parameters of its own: the same values, in the same order.
    MR_TRY(const auto counted, sql.rows(query, "1"));
    total = fmt::format("(select count(*) from ({}) c)", counted);
  }
  MR_TRY(const auto order, sql.order(query.orders));
  rows += order;
  if (query.limit) rows += fmt::format(" limit {}", *query.limit);
  if (query.offset > 0) rows += fmt::format(" offset {}", query.offset);
  return pg::Statement{
      .sql = fmt::format("select coalesce(pg_catalog.json_agg(t), '[]')::text as rows,"
                         " count(*) as returned, {} as total from ({}) t",
                         total, rows),
      .params = sql.take_params()};
}

// The rows that a write is about, as the caller sees them, each in the words of its writer. One
// more than may be is enough to know that there are too many.
Result<std::string> named_rows(RestSql& sql, const RestQuery& query, std::string_view named,
                               std::int64_t rows_max) {
  MR_TRY(const auto rows, sql.rows(query, fmt::format("{}::text", named)));
  MR_TRY(const auto order, sql.order(query.orders));
  const auto limit = std::min(query.limit.value_or(rows_max + 1), rows_max + 1);
  return fmt::format("millrace.rest_bounded(array({}{} limit {}), {})", rows, order, limit,
                     rows_max);
}

// The count is judged where the rows are written: what is refused has not happened.
Result<pg::Statement> written(RestSql& sql, const std::vector<std::string>& columns,
                              std::string_view from, const RestWanted& wanted) {
  MR_TRY(const auto list, sql.columns(columns, "w"));
  return pg::Statement{
      .sql = fmt::format("select {} as rows, count(*) as returned, null::bigint as total"
                         " from (select {} from {}) t{}",
                         wanted.rows ? "coalesce(pg_catalog.json_agg(t), '[]')::text" : "'[]'",
                         wanted.rows ? list : "1", from,
                         wanted.single ? " having millrace.rest_single(count(*))" : ""),
      .params = sql.take_params()};
}

Result<pg::Statement> insert_statement(const RestSurface& surface, const RestInsert& insert) {
  MR_TRY(auto sql, RestSql::make(surface, insert.table));
  const auto writers = writers_of(insert.table);
  if (writers.insert.empty()) return denied(insert.table);
  const bool by_key = insert.table == "shell_files" && insert.conflict_columns == "idempotency_key";
  if (insert.on_conflict != RestInsert::OnConflict::error && !insert.conflict_columns.empty() &&
      !by_key) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = "there is no unique or exclusion constraint matching the ON "
                                 "CONFLICT specification",
                      .sqlstate = "42P10"});
  }
  const auto rows = sql.parameter(insert.rows_json);
  const auto conflict =
      insert.table == "shell_files"
          ? sql.parameter(word_of(by_key ? insert.on_conflict : RestInsert::OnConflict::error))
          : std::string();
  return written(sql, insert.columns,
                 fmt::format(fmt::runtime(writers.insert), rows, conflict, sql.record()),
                 insert.wanted);
}

RestRows read_rows(const pg::ResultSet& result) {
  const auto row = result[0];
  return {.rows_json = std::string(row.text("rows")),
          .returned = row.i64("returned"),
          .total = row.opt_i64("total")};
}

class PgRestStore final : public RestStore {
 public:
  explicit PgRestStore(ApiSession& session) : session_(session) {}

  Task<RestSurfacePtr> rest_surface() override {
    MR_CO_TRY(const auto rows, co_await session_.own(MR_POINT("api_rest_surface"), Access::read,
                                                     {.sql = "select millrace.rest_surface()::text",
                                                      .name = "mr_api_rest_surface"}));
    MR_CO_TRY(auto surface, RestSurface::parse(rows[0].text(0)));
    co_return std::make_shared<const RestSurface>(std::move(surface));
  }

  Task<RestRows> select_rows(CallContext caller, RestSurfacePtr surface, RestQuery query) override {
    MR_CO_TRY(auto statement, select_statement(*surface, query));
    MR_CO_TRY(const auto rows, co_await session_.as(std::move(caller), MR_POINT("api_rest_read"),
                                                    Access::read, std::move(statement)));
    co_return read_rows(rows);
  }

  Task<RestRows> insert_rows(CallContext caller, RestSurfacePtr surface,
                             RestInsert insert) override {
    MR_CO_TRY(auto statement, insert_statement(*surface, insert));
    co_return co_await write(std::move(caller), std::move(statement));
  }

  Task<RestRows> update_rows(CallContext caller, RestSurfacePtr surface, RestQuery query,
                             std::string patch_json, RestWanted wanted) override {
    MR_CO_TRY(auto sql, RestSql::make(*surface, query.table));
    const auto writers = writers_of(query.table);
    if (writers.update.empty()) co_return denied(query.table);
    MR_CO_TRY(const auto rows, named_rows(sql, query, writers.named, wanted.rows_max));
    const auto patch = sql.parameter(patch_json);
    const auto from = fmt::format(fmt::runtime(writers.update), rows, patch, sql.record());
    MR_CO_TRY(auto statement, written(sql, query.columns, from, wanted));
    co_return co_await write(std::move(caller), std::move(statement));
  }

  Task<RestRows> delete_rows(CallContext caller, RestSurfacePtr surface, RestQuery query,
                             RestWanted wanted) override {
    MR_CO_TRY(auto sql, RestSql::make(*surface, query.table));
    const auto writers = writers_of(query.table);
    if (writers.remove.empty()) co_return denied(query.table);
    MR_CO_TRY(const auto rows, named_rows(sql, query, writers.named, wanted.rows_max));
    const auto from = fmt::format(fmt::runtime(writers.remove), rows);
    MR_CO_TRY(auto statement, written(sql, query.columns, from, wanted));
    co_return co_await write(std::move(caller), std::move(statement));
  }

  Task<RestAnswer> call_function(CallContext caller, RestSurfacePtr surface,
                                 RestCall call) override {
    MR_CO_TRY(auto sql, rest_call_sql(*surface, call.function, call.args_json));
    const auto& function = surface->functions.find(call.function)->second;
    if (call.single && function.returns_set) sql += " having millrace.rest_single(count(*))";
    const auto access = call.reading ? Access::read : Access::write;
    MR_CO_TRY(auto text, co_await session_.text_as(
                             std::move(caller), MR_POINT("api_rest_call"), access,
                             {.sql = std::move(sql), .params = pg::params(call.args_json)}));
    co_return RestAnswer{.body_json = text.empty() ? std::string("null") : std::move(text),
                         .is_void = function.returns_void};
  }

 private:
  Task<RestRows> write(CallContext caller, pg::Statement statement) {
    MR_CO_TRY(const auto rows, co_await session_.as(std::move(caller), MR_POINT("api_rest_write"),
                                                    Access::write, std::move(statement)));
    co_return read_rows(rows);
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<RestStore> make_rest_store(ApiSession& session) {
  return std::make_unique<PgRestStore>(session);
}

}  // namespace millrace::store
