// Connection: one PostgreSQL session, driven by libpq on Asio without blocking.
//
// Flow: SQL and Params in, ResultSet or Error out. Errors carry SQLSTATE, detail and hint; the kind
// follows from the SQLSTATE class (errors.h) and from what is known about the statement's fate:
// `unavailable` when it certainly did nothing, `in_doubt` when it was sent and no answer came.
// Threading: one operation at a time, from any coroutine; it runs on that coroutine's executor,
// which must be a strand or a context with one thread. Lifetime: must outlive its operations. An
// operation that is cancelled, or that times out and cannot be stopped, leaves the connection
// broken.
#pragma once

#include "base/fault.h"
#include "base/task.h"
#include "pg/connect_options.h"
#include "pg/params.h"
#include "pg/result_set.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pg {

struct QueryOptions {
  std::chrono::milliseconds timeout{60'000};
  bool read_only =
      false;           // Changes nothing, so a lost connection is `unavailable`, never `in_doubt`.
  fault::Point point;  // Where tests can make it go wrong: NAME.before, .after_send, .after.

  QueryOptions() = default;
  QueryOptions(std::chrono::milliseconds timeout_) : timeout(timeout_) {}
  QueryOptions(std::chrono::milliseconds timeout_, bool read_only_)
      : timeout(timeout_), read_only(read_only_) {}
  QueryOptions(fault::Point point_) : point(point_) {}
  QueryOptions(std::chrono::milliseconds timeout_, fault::Point point_, bool read_only_ = false)
      : timeout(timeout_), read_only(read_only_), point(point_) {}
};

struct Statement {
  std::string sql;
  Params params;
  std::string name = {};  // Prepared under this name when not empty.
};

struct Notification {
  std::string channel;
  std::string payload;
  int backend_pid = 0;
};

class Connection {
 public:
  // Tries every host and address of the url in turn. Fails with `unavailable` and the server's or
  // libpq's own first line, or with `invalid_argument` when the url is malformed.
  static Task<std::unique_ptr<Connection>> connect(Executor executor, ConnectOptions options);

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One statement, extended protocol. In time means answered in time: after `timeout` the server is
  // asked to cancel, and what it then answers is the result (57014, or success if it was faster).
  Task<ResultSet> query(std::string sql, Params params = {}, QueryOptions options = {});
  // The same with a plan kept on the server under `name`. Behind a pooler that moves sessions
  // between servers it notices (26000, 42P05) and goes on without.
  Task<ResultSet> prepared(std::string name, std::string sql, Params params = {},
                           QueryOptions options = {});
  // Whether this session has planned `name` before: its server then has all that it needs at hand.
  bool knows(std::string_view name) const;
  // All statements in one round trip. Outside a transaction they are one: if any fails, nothing
  // happened. A result per statement; those after a failed one say that they were not run. The
  // outer error is for what concerns all: connection lost, or the commit at the end failed.
  Task<std::vector<Result<ResultSet>>> pipeline(std::vector<Statement> statements,
                                                QueryOptions options = {});
  // Several statements in one text, simple protocol, no parameters: for scripts and migrations.
  // Without begin/commit in it the text is one transaction. Returns the last statement's result.
  Task<ResultSet> script(std::string sql, QueryOptions options = {});

  // COPY ... FROM STDIN: `next_chunk` gives bytes of any size until nullopt. Returns the rows
  // copied.
  using NextChunk = std::function<std::optional<std::string>()>;
  Task<std::int64_t> copy_in(std::string sql, NextChunk next_chunk, QueryOptions options = {});
  Task<std::int64_t> copy_in(std::string sql, std::string data, QueryOptions options = {});

  Task<void> begin(QueryOptions options = {});
  // in_doubt: sent, no answer. A commit that the server turned into a rollback is an error too.
  Task<void> commit(QueryOptions options = {});
  Task<void> rollback(QueryOptions options = {});

  // Waits for NOTIFY on a connection that did LISTEN; nullopt when `timeout` passes first.
  Task<std::optional<Notification>> wait_notification(std::chrono::milliseconds timeout);

  bool healthy() const;  // Connected as far as is known, no operation was cut off.
  // Reads what the server sent while nobody waited: notices a server that went away without a
  // query.
  bool check_idle();
  bool in_transaction() const;
  std::string parameter_status(std::string_view name) const;  // "server_version", "TimeZone" ...
  int server_version() const;                                 // 150004 for 15.4.
  int backend_pid() const;
  void close();

 private:
  friend class Transaction;
  struct Impl;
  explicit Connection(std::shared_ptr<Impl> impl);
  void mark_broken();

  std::shared_ptr<Impl> impl_;  // Shared with deadline timers that may fire after us.
};

// Transaction: rolled back unless committed. Leaving the scope without either marks the connection
// broken, since a destructor cannot wait for the server; the pool then drops it, which rolls back.
class Transaction {
 public:
  static Task<Transaction> begin(Connection& connection, QueryOptions options = {});

  Transaction() = default;  // Of nothing.
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&& other) noexcept;
  ~Transaction();

  Task<void> commit(QueryOptions options = {});
  Task<void> rollback(QueryOptions options = {});

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_ = nullptr;  // Null when finished.
};

}  // namespace millrace::pg
