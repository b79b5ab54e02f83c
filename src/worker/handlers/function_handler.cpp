#include "worker/handlers/function_handler.h"

#include "base/event.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>

#include <exception>
#include <utility>

namespace millrace::worker {
namespace {

struct Call {
  Event done;
  // Written before done is set, read after. What is there from the start counts when memory does
  // not even suffice to say what the handler threw: never a success.
  Outcome outcome = Outcome::retry("exception", "the handler ended without an outcome");
};

void note_exception(Call& call, const std::exception_ptr& thrown) noexcept {
  try {
    call.outcome = outcome_of_exception(thrown);
  } catch (...) {
    return;  // No memory for more words; what is there says that it failed.
  }
}

// On the strand of the pool; ends with what the user's coroutine returned or threw.
awaitable<void> call_coroutine(HandlerRegistry::Coroutine coroutine,
                               std::shared_ptr<JobContext> context, std::shared_ptr<Call> call) {
  try {
    call->outcome = co_await coroutine(context->job(), *context);
  } catch (...) {
    note_exception(*call, std::current_exception());
  }
}

}  // namespace

Outcome outcome_of_exception(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return Outcome::retry("exception", error.what());
  } catch (...) {
    return Outcome::retry("exception", "the handler threw something that is no std::exception");
  }
}

awaitable<Outcome> FunctionHandler::run(std::shared_ptr<JobContext> context) {
  auto call = std::make_shared<Call>();
  pool_.submit([this, call, context = std::move(context)] {
    try {
      call->outcome = function_(context->job(), *context);
    } catch (...) {
      note_exception(*call, std::current_exception());
    }
    call->done.set();
  });
  co_await call->done.wait();
  co_return std::move(call->outcome);
}

awaitable<Outcome> CoroutineHandler::run(std::shared_ptr<JobContext> context) {
  auto call = std::make_shared<Call>();
  boost::asio::co_spawn(boost::asio::make_strand(pool_),
                        call_coroutine(coroutine_, std::move(context), call),
                        [call](const std::exception_ptr&) { call->done.set(); });
  co_await call->done.wait();
  co_return std::move(call->outcome);
}

}  // namespace millrace::worker
