// millrace::Event inside a simulation: the same promises as src/base/event.cpp, kept by the Loop.
//
// The linker takes this one because it comes before the library. The production event waits on an
// Asio timer of a real io_context; here a waiter belongs to its simulated process, which can be
// paused and ended, and waking it costs no system call.
#include "base/event.h"

#include "base/assert.h"
#include "sim/wait.h"

#include <algorithm>
#include <vector>

namespace millrace {

struct Event::State {
  bool set = false;
  std::vector<sim::Waiter*> waiters;

  void leave(sim::Waiter* waiter) { std::erase(waiters, waiter); }
};

namespace {

// Where a waiter registers, so that it can be woken and can leave.
template <class State>
struct AtEvent {
  std::shared_ptr<State> state;
  void enter(sim::Waiter* waiter) { state->waiters.push_back(waiter); }
  void leave(sim::Waiter* waiter) { state->leave(waiter); }
};

}  // namespace

Event::Event() : state_(std::make_shared<State>()) {}

void Event::set() {
  state_->set = true;
  for (auto* waiter : std::exchange(state_->waiters, {})) waiter->wake(true);
}

void Event::reset() { state_->set = false; }

bool Event::is_set() const { return state_->set; }

awaitable<bool> Event::wait() const {
  auto state = state_;
  if (state->set) co_return true;
  co_return co_await sim::wait_at(AtEvent<State>{std::move(state)});
}

awaitable<bool> Event::wait_for(std::chrono::steady_clock::duration) const {
  MR_ASSERT(false);  // There is no real time here.
  co_return false;
}

}  // namespace millrace
