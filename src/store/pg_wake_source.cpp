#include "store/pg_wake_source.h"

#include <boost/asio/this_coro.hpp>

#include <utility>

namespace millrace::store {

Task<void> PgWakeSource::listen() {
  if (connection_ && connection_->healthy()) co_return ok();
  connection_.reset();
  const auto executor = co_await boost::asio::this_coro::executor;
  MR_CO_TRY(auto connection, co_await pg::Connection::connect(executor, options_));
  // A pooler answers for the server with a process number of its own making. LISTEN through it
  // would stay behind on a server connection and tell whoever gets that one next.
  MR_CO_TRY(const auto rows, co_await connection->query("select pg_backend_pid() as pid", {},
                                                        MR_POINT("listen_check")));
  if (rows[0].i32("pid") != connection->backend_pid()) {
    co_return fail(ErrorKind::invalid_argument,
                   "the connection goes through a pooler, which cannot carry notifications");
  }
  MR_CO_TRY_VOID(
      co_await connection->query("listen " + std::string(kWakeChannel), {}, MR_POINT("listen")));
  connection_ = std::move(connection);
  co_return ok();
}

Task<bool> PgWakeSource::wait(std::chrono::milliseconds timeout) {
  MR_CO_TRY_VOID(co_await listen());
  auto notification = co_await connection_->wait_notification(timeout);
  if (!notification.has_value()) {
    connection_.reset();
    co_return fail(std::move(notification).error());
  }
  co_return notification->has_value();
}

}  // namespace millrace::store
