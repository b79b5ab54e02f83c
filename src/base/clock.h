// Clock: where time comes from. Services take a Clock& and never ask the operating system
// themselves, so that a test can move time by hand.
//
// now() measures durations, wall() is for people and records, sleep_for() suspends the coroutine.
// A sleep ends early when the coroutine is cancelled. All members may be called from any thread.
#pragma once

#include "base/task.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace millrace {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  virtual Steady now() const = 0;
  virtual Wall wall() const = 0;
  virtual awaitable<void> sleep_for(Duration duration) = 0;

  awaitable<void> sleep_until(Steady time) { return sleep_for(time - now()); }
};

class SystemClock final : public Clock {
 public:
  Steady now() const override;
  Wall wall() const override;
  awaitable<void> sleep_for(Duration duration) override;
};

// For tests: stands still until advance() is called, which wakes the sleepers whose time has come,
// the earliest first. Starts at 2030-01-01 00:00:00 UTC. Must outlive its sleepers' last wake-up.
class ManualClock final : public Clock {
 public:
  ManualClock();
  ~ManualClock() override;

  Steady now() const override;
  Wall wall() const override;
  awaitable<void> sleep_for(Duration duration) override;

  void advance(Duration duration);
  // Moves the wall clock only, as an operator or NTP would.
  void set_wall(Wall wall);

  std::size_t sleepers() const;
  // When the next sleeper is due; nothing if nobody sleeps.
  std::optional<Steady> next_wakeup() const;
  // Returns once at least `count` coroutines sleep: the way for a test to know that its subject is
  // idle.
  awaitable<void> wait_for_sleepers(std::size_t count);

 private:
  struct State;
  std::shared_ptr<State> state_;  // Shared with cancellation handlers that may run after us.
};

}  // namespace millrace
