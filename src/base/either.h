// a || b for coroutines: runs both until one ends, cancels the other, and waits for it to be gone.
//
//   using namespace either;
//   co_await (event.wait() || clock.sleep_for(5s));
//
// Asio has operators of the same look. Theirs wait for one that succeeds: an exception of one side
// is kept back until the other ends, and then forgotten, so that a loop which died beside
// `stopping.wait()` would go unnoticed. Here the first end counts whatever it is, and an exception
// is thrown on at once; only the abort of the side that was cancelled is no news.
#pragma once

#include "base/task.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace millrace::either {

namespace detail {

template <class T>
using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// Asio asks for a default constructor of what it hands over; an optional has one.
template <class T>
awaitable<std::optional<Value<T>>> kept(awaitable<T> task) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(task);
    co_return std::monostate();
  } else {
    co_return co_await std::move(task);
  }
}

inline bool is_abort(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code() == boost::asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace detail

template <class T, class U>
awaitable<std::variant<detail::Value<T>, detail::Value<U>>> operator||(awaitable<T> first,
                                                                       awaitable<U> second) {
  namespace asio = boost::asio;
  using Answer = std::variant<detail::Value<T>, detail::Value<U>>;
  const auto executor = co_await asio::this_coro::executor;
  auto [order, thrown_first, value_first, thrown_second, value_second] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, detail::kept(std::move(first)), asio::deferred),
          asio::co_spawn(executor, detail::kept(std::move(second)), asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  const bool first_ended = order[0] == 0;
  const auto& winner = first_ended ? thrown_first : thrown_second;
  const auto& loser = first_ended ? thrown_second : thrown_first;
  if (winner) std::rethrow_exception(winner);
  if (loser && !detail::is_abort(loser)) std::rethrow_exception(loser);
  if (first_ended) co_return Answer(std::in_place_index<0>, *std::move(value_first));
  co_return Answer(std::in_place_index<1>, *std::move(value_second));
}

}  // namespace millrace::either
