// both(a, b): runs two coroutines at the same time and ends when both have ended.
//
// An exception of either is thrown on, once the other has ended too. Cancelling it cancels both.
#pragma once

#include "base/task.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <utility>

namespace millrace {

inline awaitable<void> both(awaitable<void> first, awaitable<void> second) {
  namespace asio = boost::asio;
  const auto executor = co_await asio::this_coro::executor;
  auto [order, thrown_first, thrown_second] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, std::move(first), asio::deferred),
          asio::co_spawn(executor, std::move(second), asio::deferred))
          .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  if (thrown_first) std::rethrow_exception(thrown_first);
  if (thrown_second) std::rethrow_exception(thrown_second);
}

}  // namespace millrace
