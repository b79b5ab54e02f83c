#include "base/spawn.h"

#include "base/assert.h"
#include "base/event.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace millrace {

namespace asio = boost::asio;

namespace {

[[noreturn]] void die(const Logger& log, const std::string& name,
                      const std::exception_ptr& thrown) noexcept {
  try {
    std::string what = "unknown exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
    }
    log.error("task_crashed", {{"task", name}, {"exception", what}});
  } catch (...) {  // No memory for words: the end itself needs none.
    constexpr std::string_view kLast =
        "millrace: a task crashed, and there is no memory to say why\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kLast.data(), kLast.size());
  }
  std::abort();
}

awaitable<void> after_others(awaitable<void> task) {
  co_await others_first();
  co_await std::move(task);
}

}  // namespace

void spawn(Executor executor, awaitable<void> task, Logger& log, std::string name) {
  asio::co_spawn(executor, std::move(task),
                 [&log, name = std::move(name)](const std::exception_ptr& thrown) {
                   if (thrown) die(log, name, thrown);
                 });
}

awaitable<void> others_first() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
}

void spawn_later(Executor executor, awaitable<void> task, Logger& log, std::string name) {
  spawn(std::move(executor), after_others(std::move(task)), log, std::move(name));
}

struct TaskGroup::State {
  mutable std::mutex mutex;  // Guards running.
  std::size_t running = 0;
  Event idle;  // Set while nothing runs.
};

TaskGroup::TaskGroup(Executor executor, Logger& log)
    : executor_(std::move(executor)), log_(log), state_(std::make_shared<State>()) {
  state_->idle.set();
}

TaskGroup::~TaskGroup() { MR_ASSERT(running() == 0); }

void TaskGroup::add(std::string name, awaitable<void> task) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->running++ == 0) state_->idle.reset();
  }
  // The completion handler is destroyed uncalled when the context goes away first: then, too, the
  // task runs no more, so the count is kept by an object and not by the call.
  struct Running {
    std::shared_ptr<State> state;
    explicit Running(std::shared_ptr<State> s) : state(std::move(s)) {}
    Running(Running&&) = default;
    Running& operator=(Running&&) = delete;
    ~Running() {
      if (!state) return;
      const std::lock_guard lock(state->mutex);
      if (--state->running == 0) state->idle.set();
    }
  };
  asio::co_spawn(executor_, std::move(task),
                 [log = &log_, name = std::move(name),
                  running = Running(state_)](const std::exception_ptr& thrown) {
                   if (thrown) die(*log, name, thrown);
                 });
}

std::size_t TaskGroup::running() const {
  const std::lock_guard lock(state_->mutex);
  return state_->running;
}

awaitable<void> TaskGroup::join() {
  auto state = state_;
  co_await state->idle.wait();
}

}  // namespace millrace
