// run_blocking: runs one coroutine to its end on this thread, for command line code and tests.
#pragma once

#include "base/assert.h"
#include "base/task.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace millrace {

namespace detail {

// Keeps T out of co_spawn's signature, which would demand a default constructor of it.
template <class T>
awaitable<void> keep_result(awaitable<T> task, std::optional<T>* result) {
  result->emplace(co_await std::move(task));
}

}  // namespace detail

// Runs `io` until `task` has ended; other work on `io` runs meanwhile. An exception is thrown on.
template <class T>
T run_blocking(boost::asio::io_context& io, awaitable<T> task) {
  if constexpr (std::is_void_v<T>) {
    std::exception_ptr thrown;
    bool finished = false;
    boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr error) {
      thrown = std::move(error);
      finished = true;
    });
    io.restart();
    while (!finished && io.run_one() > 0) {
    }
    MR_ASSERT(finished);  // Otherwise it waits for something that nobody will do.
    if (thrown) std::rethrow_exception(thrown);
  } else {
    std::optional<T> result;
    run_blocking(io, detail::keep_result(std::move(task), &result));
    return std::move(result).value();
  }
}

template <class T>
T run_blocking(awaitable<T> task) {
  boost::asio::io_context io(1);
  return run_blocking(io, std::move(task));
}

}  // namespace millrace
