#include "store/api/session.h"

#include "store/sqlstate.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

// One statement for all settings; set_config with `true` is SET LOCAL. A read-only transaction is
// for good: nothing in it can write, whatever function it calls.
pg::Statement settings(const CallContext& context, Access access) {
  pg::Params params;
  params.add(context.role).add(context.claims_json);
  params.add(context.tenant ? context.tenant->to_string() : std::string());
  params.add(context.actor).add(access == Access::read ? "on" : "off");
  // One number instead of what was set: nobody reads the answer.
  return {.sql =
              "select pg_catalog.num_nonnulls(pg_catalog.set_config('role', $1, true),"
              " pg_catalog.set_config('request.jwt.claims', $2, true),"
              " pg_catalog.set_config('millrace.tenant_id', $3, true),"
              " pg_catalog.set_config('millrace.actor', $4, true),"
              " pg_catalog.set_config('transaction_read_only', $5, true))",
          .params = std::move(params),
          .name = "mr_api_settings"};
}

}  // namespace

Task<pg::ResultSet> ApiSession::as(CallContext context, fault::Point point, Access access,
                                   std::vector<pg::Statement> statements) {
  auto name = statements.front().name;
  statements.insert(statements.begin(), settings(context, access));
  MR_CO_TRY(auto connection, co_await pool_.acquire(timeouts_.acquire, std::move(name)));
  const pg::QueryOptions options(timeouts_.call, point, access == Access::read);
  MR_CO_TRY(auto results, translate(co_await connection->pipeline(std::move(statements), options)));
  for (auto& result : results) {
    // The statements after a failed one only say that they were not run.
    if (!result.has_value()) co_return fail(translate(std::move(result).error()));
  }
  co_return std::move(results.back());
}

Task<pg::ResultSet> ApiSession::as(CallContext context, fault::Point point, Access access,
                                   pg::Statement statement) {
  std::vector<pg::Statement> one;
  one.push_back(std::move(statement));
  co_return co_await as(std::move(context), point, access, std::move(one));
}

Task<std::string> ApiSession::text_as(CallContext context, fault::Point point, Access access,
                                      pg::Statement statement) {
  MR_CO_TRY(const auto rows, co_await as(std::move(context), point, access, std::move(statement)));
  if (rows.empty()) co_return std::string();
  co_return rows[0].opt_text(0).value_or("");
}

Task<pg::ResultSet> ApiSession::own(fault::Point point, Access access, pg::Statement statement) {
  MR_CO_TRY(auto connection, co_await pool_.acquire(timeouts_.acquire, statement.name));
  const pg::QueryOptions options(timeouts_.call, point, access == Access::read);
  co_return translate(co_await connection->prepared(
      std::move(statement.name), std::move(statement.sql), std::move(statement.params), options));
}

pg::Statement rows_as_json(std::string name, std::string_view select, pg::Params params) {
  return {
      .sql = fmt::format("select coalesce(pg_catalog.json_agg(t), '[]')::text from ({}) t", select),
      .params = std::move(params),
      .name = std::move(name)};
}

}  // namespace millrace::store
