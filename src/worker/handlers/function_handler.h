// Handlers written in C++: a function that may block, or a coroutine.
#pragma once

#include "worker/blocking_pool.h"
#include "worker/handler.h"
#include "worker/handler_registry.h"

#include <boost/asio/thread_pool.hpp>

namespace millrace::worker {

class FunctionHandler final : public Handler {
 public:
  // `pool` outlives the handler.
  FunctionHandler(HandlerRegistry::Function function, BlockingPool& pool)
      : function_(std::move(function)), pool_(pool) {}

  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;

 private:
  HandlerRegistry::Function function_;
  BlockingPool& pool_;
};

class CoroutineHandler final : public Handler {
 public:
  // `pool` outlives the handler.
  CoroutineHandler(HandlerRegistry::Coroutine coroutine, boost::asio::thread_pool& pool)
      : coroutine_(std::move(coroutine)), pool_(pool) {}

  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;

 private:
  HandlerRegistry::Coroutine coroutine_;
  boost::asio::thread_pool& pool_;
};

// The outcome of an exception that a handler let go.
Outcome outcome_of_exception(const std::exception_ptr& thrown);

}  // namespace millrace::worker
