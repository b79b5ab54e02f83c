#include "store/pg_wake_source.h"

#include <boost/asio/this_coro.hpp>

#include <utility>

namespace millrace::store {

Task<void> PgWakeSource::listen() {
  if (connection_ && connection_->healthy()) co_return ok();
  connection_.reset();
  const auto executor = co_await boost::asio::this_coro::executor;
  MR_CO_TRY(auto connection, co_await pg::Connection::connect(executor, options_));
  MR_CO_TRY_VOID(co_await connection->query("listen " + std::string(kWakeChannel)));
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
