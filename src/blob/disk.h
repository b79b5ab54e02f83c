// on_disk: runs blocking work on the disk pool and comes back to the caller's executor.
//
// The work is not interrupted by cancelling: the caller waits for it, so that its buffers live long
// enough.
#pragma once

#include "base/task.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace millrace::blob {

template <class Work>
awaitable<std::invoke_result_t<Work>> on_disk(Executor pool, Work work) {
  namespace asio = boost::asio;
  std::optional<std::invoke_result_t<Work>> result;
  auto token = asio::use_awaitable;
  co_await asio::async_initiate<decltype(token), void()>(
      [&pool, &result, &work](auto handler) {
        // The caller's context must not think that it has run out of work meanwhile. That promise
        // goes back with the handler: afterwards the context may be gone before this thread is
        // done.
        auto back = asio::make_work_guard(asio::get_associated_executor(handler));
        asio::post(
            pool, [&result, &work, back = std::move(back), handler = std::move(handler)]() mutable {
              result.emplace(work());
              const auto executor = back.get_executor();
              asio::dispatch(executor,
                             [back = std::move(back), handler = std::move(handler)]() mutable {
                               std::move(handler)();
                             });
            });
      },
      token);
  co_return *std::move(result);
}

}  // namespace millrace::blob
