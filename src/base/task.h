// Task<T>: a coroutine that ends with a Result<T>. Only the awaitable itself is included here, so
// that headers which name a Task stay cheap to compile.
#pragma once

#include "base/result.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace millrace {

using Executor = boost::asio::any_io_executor;

// awaitable<void> for coroutines that cannot fail, Task<T> for those that can.
template <class T>
using awaitable = boost::asio::awaitable<T>;

template <class T>
using Task = boost::asio::awaitable<Result<T>>;

}  // namespace millrace
