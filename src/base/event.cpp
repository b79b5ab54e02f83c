#include "base/event.h"

#include "base/either.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace millrace {

namespace asio = boost::asio;

// A waiter is an Asio timer that never expires by itself: Asio then owns the suspended coroutine,
// delivers cancellation to it, and destroys it properly when its context goes away first.
struct Event::State {
  struct Waiter {
    asio::steady_timer timer;
    bool woken = false;
  };

  std::mutex mutex;  // Guards all below, and every use of the waiters' timers.
  bool set = false;
  std::vector<Waiter*> waiters;
};

Event::Event() : state_(std::make_shared<State>()) {}

void Event::set() {
  const std::lock_guard lock(state_->mutex);
  state_->set = true;
  for (auto* waiter : state_->waiters) {
    waiter->woken = true;
    // Also right when the wait has not begun yet: it will find the time passed.
    waiter->timer.expires_at(asio::steady_timer::time_point::min());
  }
  state_->waiters.clear();
}

void Event::reset() {
  const std::lock_guard lock(state_->mutex);
  state_->set = false;
}

bool Event::is_set() const {
  const std::lock_guard lock(state_->mutex);
  return state_->set;
}

awaitable<bool> Event::wait() const {
  // Leaves the list also when the coroutine is destroyed while it waits.
  struct Registration {
    std::shared_ptr<State> state;
    State::Waiter waiter;
    ~Registration() {
      const std::lock_guard lock(state->mutex);
      std::erase(state->waiters, &waiter);
    }
  };
  Registration self{.state = state_,
                    .waiter = {.timer = asio::steady_timer(co_await asio::this_coro::executor,
                                                           asio::steady_timer::time_point::max())}};
  {
    const std::lock_guard lock(self.state->mutex);
    if (self.state->set) co_return true;
    self.state->waiters.push_back(&self.waiter);
  }
  auto token = asio::as_tuple(asio::use_awaitable);
  co_await asio::async_initiate<decltype(token), void(boost::system::error_code)>(
      [&self](auto handler) {
        const std::lock_guard lock(self.state->mutex);
        self.waiter.timer.async_wait(std::move(handler));
      },
      token);
  const std::lock_guard lock(self.state->mutex);
  co_return self.waiter.woken;
}

awaitable<bool> Event::wait_for(std::chrono::steady_clock::duration timeout) const {
  using namespace either;
  auto self = *this;
  if (self.is_set()) co_return true;
  asio::steady_timer timer(co_await asio::this_coro::executor, timeout);
  co_await (self.wait() || timer.async_wait(asio::as_tuple(asio::use_awaitable)));
  co_return self.is_set();
}

}  // namespace millrace
