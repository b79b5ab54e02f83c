// What only the bench asks of a server: its own counters, its sizes, and a client as plain as any
// other program's.
//
// PlainClient is what a user of libpq writes without our library: one connection, one statement
// prepared once, blocking. It exists so that single calls are measured without our own plumbing,
// and so that other queues' functions can be called by exactly the same code.
#pragma once

#include "base/result.h"
#include "pg/sync_connection.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;

namespace millrace::store {

// Totals since the server's beginning; only differences mean anything.
struct ServerCounters {
  std::int64_t wal_bytes = 0;
  std::int64_t commits = 0;       // Of this database.
  std::int64_t rows_written = 0;  // Row versions inserted, updated, deleted.
  std::int64_t rows_dead = 0;     // Of those, versions that vacuum has to remove.
};

Result<ServerCounters> server_counters(pg::SyncConnection& connection);
// Sessions of clients in this database besides this one. A backend reports what it counted before
// it is gone from here.
Result<std::int64_t> other_sessions(pg::SyncConnection& connection);
Result<std::int64_t> relation_bytes(pg::SyncConnection& connection);
// Opens a REPEATABLE READ transaction with a snapshot; it lasts until the connection is closed.
Result<void> hold_snapshot(pg::SyncConnection& connection);
// Every measurement begins behind a checkpoint. Not everybody may ask for one: then it is left out.
void checkpoint(pg::SyncConnection& connection);

// A setting of the database, also one that the schema knows but does not list: such as partitions
// of minutes, which only short runs need.
Result<void> set_configuration(pg::SyncConnection& connection, const std::string& key,
                               const std::string& value);

// COPY into the intake in one call: `row(i)` gives payload and concurrency key, either may change.
struct IntakeRow {
  std::string payload;
  std::string concurrency_key;
};
Result<void> copy_keyed_jobs(pg::SyncConnection& connection, const std::string& job_type,
                             const std::string& queue, std::int64_t count,
                             const std::function<IntakeRow(std::int64_t)>& row);

class PlainClient {
 public:
  // `statement` has the parameters $1, $2, ... and is prepared here.
  static Result<PlainClient> connect(const std::string& url, const std::string& statement);
  PlainClient(PlainClient&&) noexcept = default;
  PlainClient& operator=(PlainClient&&) noexcept = default;

  // The first column of the first row; empty when there is none.
  Result<std::string> call(const std::vector<std::string>& params);

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  explicit PlainClient(pg_conn* connection) : connection_(connection) {}
  Error last_error(std::string_view what) const;

  std::unique_ptr<pg_conn, Close> connection_;
};

// The statement of a single enqueue: job type, payload, options.
std::string_view enqueue_job_statement();

}  // namespace millrace::store
