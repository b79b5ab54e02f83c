#include "store/bench_store.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <optional>

namespace millrace::store {
namespace {

using namespace std::chrono_literals;

constexpr const char* kStatement = "bench";

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

// COPY's text format: a backslash is doubled; tab and newline do not occur in our texts.
std::string escape_copy(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

}  // namespace

Result<ServerCounters> server_counters(pg::SyncConnection& connection) {
  MR_TRY(const auto result,
         connection.query(
             "select (pg_current_wal_lsn() - '0/0')::bigint as wal_bytes,"
             "       (select d.xact_commit from pg_stat_database d"
             "         where d.datname = current_database()) as commits,"
             "       coalesce(sum(t.n_tup_ins + t.n_tup_upd + t.n_tup_del), 0)::bigint as written,"
             "       coalesce(sum(t.n_tup_upd + t.n_tup_del), 0)::bigint as dead"
             "  from pg_stat_user_tables t",
             {}, {60s, MR_POINT("admin_read"), true}));
  const auto row = result[0];
  return ServerCounters{.wal_bytes = row.i64("wal_bytes"),
                        .commits = row.i64("commits"),
                        .rows_written = row.i64("written"),
                        .rows_dead = row.i64("dead")};
}

Result<std::int64_t> other_sessions(pg::SyncConnection& connection) {
  MR_TRY(const auto result,
         connection.query("select count(*) as sessions from pg_stat_activity a"
                          " where a.datname = current_database() and a.pid <> pg_backend_pid()"
                          "   and a.backend_type = 'client backend'",
                          {}, {60s, MR_POINT("admin_read"), true}));
  return result[0].i64("sessions");
}

Result<std::int64_t> relation_bytes(pg::SyncConnection& connection) {
  MR_TRY(const auto result,
         connection.query("select coalesce(sum(pg_relation_size(c.oid)), 0)::bigint as bytes"
                          "  from pg_class c join pg_namespace n on n.oid = c.relnamespace"
                          " where n.nspname in ('millrace', 'pg_toast')",
                          {}, {60s, MR_POINT("admin_read"), true}));
  return result[0].i64("bytes");
}

Result<void> hold_snapshot(pg::SyncConnection& connection) {
  MR_TRY_VOID(
      connection.query("begin isolation level repeatable read", {}, MR_POINT("admin_write")));
  MR_TRY_VOID(connection.query("select pg_current_snapshot()", {}, MR_POINT("admin_write")));
  return {};
}

void checkpoint(pg::SyncConnection& connection) {
  (void)connection.query("checkpoint", {}, {300s, MR_POINT("admin_write")});
}

Result<void> set_configuration(pg::SyncConnection& connection, const std::string& key,
                               const std::string& value) {
  MR_TRY_VOID(connection.query(
      "insert into millrace.system_configuration (config_key, config_value) values ($1, $2)"
      " on conflict (config_key) do update set config_value = excluded.config_value",
      pg::params(key, value), MR_POINT("admin_write")));
  return {};
}

Result<void> copy_keyed_jobs(pg::SyncConnection& connection, const std::string& job_type,
                             const std::string& queue, std::int64_t count,
                             const std::function<IntakeRow(std::int64_t)>& row) {
  std::int64_t next = 0;
  const auto chunk = [&]() -> std::optional<std::string> {
    if (next >= count) return std::nullopt;
    std::string text;
    for (int i = 0; i < 500 && next < count; ++i, ++next) {
      const auto one = row(next);
      text += fmt::format("{}\t{}\t{}\t{}\n", job_type, escape_copy(one.payload), queue,
                          one.concurrency_key.empty() ? "\\N" : escape_copy(one.concurrency_key));
    }
    return text;
  };
  MR_TRY_VOID(connection.copy_in(
      "copy millrace.job_intake (job_type, payload, queue, concurrency_key) from stdin", chunk,
      {300s, MR_POINT("enqueue_copy")}));
  return {};
}

void PlainClient::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Error PlainClient::last_error(std::string_view what) const {
  return {.kind = ErrorKind::unavailable,
          .message = fmt::format("{}: {}", what, PQerrorMessage(connection_.get()))};
}

Result<PlainClient> PlainClient::connect(const std::string& url, const std::string& statement) {
  PlainClient client(PQconnectdb(url.c_str()));
  if (PQstatus(client.connection_.get()) != CONNECTION_OK) {
    return fail(client.last_error("cannot connect"));
  }
  const Answer prepared(
      PQprepare(client.connection_.get(), kStatement, statement.c_str(), 0, nullptr));
  if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) {
    return fail(client.last_error("cannot prepare"));
  }
  return client;
}

Result<std::string> PlainClient::call(const std::vector<std::string>& params) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const auto& param : params) values.push_back(param.c_str());
  const Answer answer(PQexecPrepared(connection_.get(), kStatement, static_cast<int>(values.size()),
                                     values.data(), nullptr, nullptr, 0));
  const auto status = PQresultStatus(answer.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return fail(last_error("call"));
  if (PQntuples(answer.get()) == 0) return std::string();
  return std::string(PQgetvalue(answer.get(), 0, 0));
}

std::string_view enqueue_job_statement() {
  return "select millrace.enqueue_job($1, $2::jsonb, $3::jsonb)";
}

}  // namespace millrace::store
