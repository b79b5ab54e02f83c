// Event: one coroutine waits until somebody, on any thread, says that it happened.
//
// Once set it stays set until reset(). Waiting honours Asio cancellation, so `event.wait() ||
// timer` ends properly. Thread-safe. Copies are handles on the same event.
#pragma once

#include "base/task.h"

#include <chrono>
#include <memory>

namespace millrace {

class Event {
 public:
  Event();

  void set();  // Wakes all waiters, each on its own executor.
  void reset();
  bool is_set() const;

  // True when the event is set, false when the wait was cancelled.
  awaitable<bool> wait() const;
  // False also when `timeout` passed first. Real time: for I/O deadlines, not for policies.
  awaitable<bool> wait_for(std::chrono::steady_clock::duration timeout) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // Shared by all copies and by waits under way.
};

}  // namespace millrace
