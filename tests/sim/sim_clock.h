// ProcessClock: the clock of one simulated process. Steady time is the Loop's, less what the
// process was frozen for; wall time can be stepped, as NTP or an operator would.
#pragma once

#include "base/clock.h"
#include "sim/wait.h"

namespace millrace::sim {

class ProcessClock final : public Clock {
 public:
  explicit ProcessClock(const Context& context) : context_(context) {}

  // An hour is added: a steady clock that is younger than what is subtracted from it is no test.
  Steady now() const override { return Steady(std::chrono::hours(1) + context_.now()); }
  Wall wall() const override {
    return Wall(std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}) + context_.now() + step_;
  }
  awaitable<void> sleep_for(Duration duration) override {
    if (duration <= Duration::zero()) co_return;
    const auto rounded = std::chrono::ceil<Time>(duration);
    co_await wait_at(AtTime{context_.loop().now() + rounded});
  }

  void step_wall(Time step) { step_ += step; }

 private:
  struct AtTime {
    Time time;
    void enter(Waiter* waiter) const { waiter->context().loop().wait_until(waiter, time); }
    void leave(Waiter* waiter) const { waiter->context().loop().forget_timer(waiter); }
  };

  const Context& context_;
  Time step_{0};
};

}  // namespace millrace::sim
