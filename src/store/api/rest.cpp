#include "store/api/rest.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

// Which function writes a table, by what is to be done; empty: nobody writes it here.
struct Writers {
  std::string_view insert;  // Of the rows and the word for conflicts.
  std::string_view update;  // Of ids and the patch.
  std::string_view remove;  // Of ids.
};

Writers writers_of(std::string_view table) {
  if (table == "shell_files") {
    return {.insert = "millrace.put_shell_files({0}, {1}) w",
            .update = "millrace.update_shell_files({0}, {1}) w",
            .remove = "millrace.delete_shell_files({0}) w"};
  }
  if (table == "export_history") {
    return {.insert =
                "pg_catalog.jsonb_array_elements({0}::jsonb) e"
                " cross join lateral millrace.create_export_history(e) w",
            .update = "millrace.update_export_history({0}, {1}) w",
            .remove = "millrace.delete_export_history({0}) w"};
  }
  // The one way to a new export; grants say for whom. Nothing else of a job is written by tables.
  if (table == "export_jobs") {
    return {.insert =
                "millrace.put_export_jobs({0}) j"
                " cross join lateral pg_catalog.jsonb_to_record(j) w({2})",
            .update = {},
            .remove = {}};
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

// "array(select r.id …)": the rows that a write is about, as the caller sees them.
Result<std::string> ids_of(RestSql& sql, const RestQuery& query) {
  MR_TRY(const auto rows, sql.rows(query, "r.id"));
  MR_TRY(const auto order, sql.order(query.orders));
  const auto limit = query.limit ? fmt::format(" limit {}", *query.limit) : std::string();
  return fmt::format("array({}{}{})", rows, order, limit);
}

Result<pg::Statement> written(RestSql& sql, const std::vector<std::string>& columns,
                              std::string_view from) {
  MR_TRY(const auto list, sql.columns(columns, "w"));
  return pg::Statement{
      .sql = fmt::format("select coalesce(pg_catalog.json_agg(t), '[]')::text as rows,"
                         " count(*) as returned, null::bigint as total"
                         " from (select {} from {}) t",
                         list, from),
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
                 fmt::format(fmt::runtime(writers.insert), rows, conflict, sql.record()));
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
                             std::string patch_json) override {
    MR_CO_TRY(auto sql, RestSql::make(*surface, query.table));
    const auto writers = writers_of(query.table);
    if (writers.update.empty()) co_return denied(query.table);
    MR_CO_TRY(const auto ids, ids_of(sql, query));
    const auto patch = sql.parameter(patch_json);
    MR_CO_TRY(auto statement,
              written(sql, query.columns, fmt::format(fmt::runtime(writers.update), ids, patch)));
    co_return co_await write(std::move(caller), std::move(statement));
  }

  Task<RestRows> delete_rows(CallContext caller, RestSurfacePtr surface, RestQuery query) override {
    MR_CO_TRY(auto sql, RestSql::make(*surface, query.table));
    const auto writers = writers_of(query.table);
    if (writers.remove.empty()) co_return denied(query.table);
    MR_CO_TRY(const auto ids, ids_of(sql, query));
    MR_CO_TRY(auto statement,
              written(sql, query.columns, fmt::format(fmt::runtime(writers.remove), ids)));
    co_return co_await write(std::move(caller), std::move(statement));
  }

  Task<RestAnswer> call_function(CallContext caller, RestSurfacePtr surface,
                                 RestCall call) override {
    MR_CO_TRY(auto sql, rest_call_sql(*surface, call.function, call.args_json));
    const auto access = call.reading ? Access::read : Access::write;
    MR_CO_TRY(auto text, co_await session_.text_as(
                             std::move(caller), MR_POINT("api_rest_call"), access,
                             {.sql = std::move(sql), .params = pg::params(call.args_json)}));
    const bool is_void = surface->functions.find(call.function)->second.returns_void;
    co_return RestAnswer{.body_json = text.empty() ? std::string("null") : std::move(text),
                         .is_void = is_void};
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
