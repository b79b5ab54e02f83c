// SyncConnection: a Connection for code that may block: command line, migrator, tests.
//
// The same operations with the same errors; each runs to its end on the calling thread. One thread
// at a time. Movable.
#pragma once

#include "pg/connection.h"

#include <memory>

namespace millrace::pg {

class SyncConnection {
 public:
  static Result<SyncConnection> connect(ConnectOptions options);
  static Result<SyncConnection> connect(std::string url) {
    return connect(connect_options(std::move(url)));
  }

  SyncConnection();  // Connected to nothing; only to be assigned to.
  SyncConnection(SyncConnection&&) noexcept;
  SyncConnection& operator=(SyncConnection&&) noexcept;
  ~SyncConnection();

  Result<ResultSet> query(std::string sql, Params params = {}, QueryOptions options = {});
  Result<ResultSet> prepared(std::string name, std::string sql, Params params = {},
                             QueryOptions options = {});
  Result<std::vector<Result<ResultSet>>> pipeline(std::vector<Statement> statements,
                                                  QueryOptions options = {});
  Result<ResultSet> script(std::string sql, QueryOptions options = {});
  Result<std::int64_t> copy_in(std::string sql, Connection::NextChunk next_chunk,
                               QueryOptions options = {});
  Result<std::int64_t> copy_in(std::string sql, std::string data, QueryOptions options = {});
  Result<void> begin(QueryOptions options = {});
  Result<void> commit(QueryOptions options = {});
  Result<void> rollback(QueryOptions options = {});
  Result<std::optional<Notification>> wait_notification(std::chrono::milliseconds timeout);

  bool healthy() const;
  bool in_transaction() const;
  std::string parameter_status(std::string_view name) const;
  int server_version() const;
  int backend_pid() const;
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::pg
