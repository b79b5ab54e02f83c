#include "pg/sync_connection.h"

#include "base/assert.h"
#include "base/run.h"

namespace millrace::pg {

struct SyncConnection::Impl {
  boost::asio::io_context io{1};
  std::unique_ptr<Connection> connection;  // After io: it must go first.

  template <class T>
  T run(awaitable<T> task) {
    return run_blocking(io, std::move(task));
  }
};

SyncConnection::SyncConnection() = default;
SyncConnection::SyncConnection(SyncConnection&&) noexcept = default;
SyncConnection& SyncConnection::operator=(SyncConnection&&) noexcept = default;
SyncConnection::~SyncConnection() = default;

Result<SyncConnection> SyncConnection::connect(ConnectOptions options) {
  SyncConnection result;
  result.impl_ = std::make_unique<Impl>();
  auto& impl = *result.impl_;
  MR_TRY(impl.connection,
         impl.run(Connection::connect(impl.io.get_executor(), std::move(options))));
  return result;
}

Result<ResultSet> SyncConnection::query(std::string sql, Params params, QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->query(std::move(sql), std::move(params), options));
}

Result<ResultSet> SyncConnection::prepared(std::string name, std::string sql, Params params,
                                           QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(
      impl_->connection->prepared(std::move(name), std::move(sql), std::move(params), options));
}

Result<std::vector<Result<ResultSet>>> SyncConnection::pipeline(std::vector<Statement> statements,
                                                                QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->pipeline(std::move(statements), options));
}

Result<ResultSet> SyncConnection::script(std::string sql, QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->script(std::move(sql), options));
}

Result<std::int64_t> SyncConnection::copy_in(std::string sql, Connection::NextChunk next_chunk,
                                             QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->copy_in(std::move(sql), std::move(next_chunk), options));
}

Result<std::int64_t> SyncConnection::copy_in(std::string sql, std::string data,
                                             QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->copy_in(std::move(sql), std::move(data), options));
}

Result<void> SyncConnection::begin(QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->begin(options));
}

Result<void> SyncConnection::commit(QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->commit(options));
}

Result<void> SyncConnection::rollback(QueryOptions options) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->rollback(options));
}

Result<std::optional<Notification>> SyncConnection::wait_notification(
    std::chrono::milliseconds timeout) {
  MR_ASSERT(impl_ != nullptr);
  return impl_->run(impl_->connection->wait_notification(timeout));
}

bool SyncConnection::healthy() const { return impl_ != nullptr && impl_->connection->healthy(); }

bool SyncConnection::in_transaction() const {
  return impl_ != nullptr && impl_->connection->in_transaction();
}

std::string SyncConnection::parameter_status(std::string_view name) const {
  MR_ASSERT(impl_ != nullptr);
  return impl_->connection->parameter_status(name);
}

int SyncConnection::server_version() const {
  MR_ASSERT(impl_ != nullptr);
  return impl_->connection->server_version();
}

int SyncConnection::backend_pid() const {
  MR_ASSERT(impl_ != nullptr);
  return impl_->connection->backend_pid();
}

void SyncConnection::close() {
  if (impl_ != nullptr) impl_->connection->close();
}

}  // namespace millrace::pg
