// Loop: the seeded scheduler under every simulated process, and the only time there is.
//
// All processes of a world live in one thread. Whatever can go on stands in one list, and the seed
// picks what goes on next, so that every order of coroutines is possible and each run can be
// repeated. Time stands still while something can go on and then jumps to the next wake-up. A
// process is a Context: its coroutines run on the executor of its context, which can be paused
// (nothing of it goes on), or ended (its coroutines are destroyed where they wait, and nothing of
// them ever runs again).
#pragma once

#include "base/random.h"

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace millrace::sim {

using Time = std::chrono::microseconds;  // Since the world began.

// The chance of a simulated world: as SeededRandom, without its lock.
class Dice final : public Random {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

  // In [0, bound); quick, and even enough for picking.
  std::size_t pick(std::size_t bound) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(next()) * bound) >> 64U);
  }
  bool chance(double share) { return share > 0 && uniform() < share; }
  Time time(Time low, Time high) { return Time(between(low.count(), high.count())); }

 private:
  std::uint64_t state_;
};

class Context;
class Loop;

// Something that waits, or that can go on.
class Op {
 public:
  virtual ~Op();
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  virtual void run() = 0;  // Once; deletes itself.
  bool goes_on() const { return goes_on_; }

 protected:
  explicit Op(Context* context);

 private:
  friend class Context;
  friend class Loop;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  Context* context_;
  std::size_t timer_at_ = kNowhere;
  Op* before_ = nullptr;  // In the list of what waits in its context.
  Op* after_ = nullptr;
  bool parked_ = false;
  bool goes_on_ = false;
};

class Loop {
 public:
  explicit Loop(std::uint64_t seed) : dice_(seed) {}
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Time now() const { return now_; }
  // Does one thing. False when nothing will ever happen again, or not before `limit`.
  bool step(Time limit);
  std::uint64_t steps() const { return steps_; }

  // Something that no process does: the network, the database, the nemesis.
  void at(Time time, std::move_only_function<void()> what);

  // Share of the steps at which time passes although something could go on: processes are slow.
  double slowness = 0;

  // For Context and the operations.
  void go_on(Op* op);
  void wait_until(Op* op, Time time);
  void forget_timer(Op* op);
  Context* current() const { return current_; }

 private:
  friend class Context;
  struct Timer {
    Time time;
    Op* op;
  };

  bool advance(Time limit);
  void run(Op* op);

  Dice dice_;
  Time now_{0};
  std::uint64_t steps_ = 0;
  std::vector<Op*> ready_;
  std::vector<Timer> timers_;
  Context* current_ = nullptr;
};

class Context final : public boost::asio::execution_context {
 public:
  explicit Context(Loop& loop) : loop_(loop) {}
  ~Context();

  Loop& loop() const { return loop_; }
  bool paused() const { return paused_; }
  bool ended() const { return ended_; }
  // Steady time of this process: stands still while it is frozen.
  Time now() const { return (frozen_ ? paused_at_ : loop_.now()) - lost_; }

  // `frozen`: its clock stands still as well, as for a suspended virtual machine.
  void pause(bool frozen);
  void resume();
  void end();

  void park(Op* op);
  void unpark(Op* op);

 private:
  friend class Loop;

  Loop& loop_;
  Op* parked_ = nullptr;
  std::vector<Op*> held_;                      // What could go on if it were not paused.
  std::vector<std::pair<Op*, Time>> stopped_;  // Timers of a frozen process, with what is left.
  bool paused_ = false;
  bool frozen_ = false;
  bool ended_ = false;
  Time paused_at_{0};
  Time lost_{0};
};

// The executor of a process, as Asio wants it.
class ContextExecutor {
 public:
  explicit ContextExecutor(Context& context) : context_(&context) {}

  Context& query(boost::asio::execution::context_t) const noexcept { return *context_; }
  boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) const noexcept {
    if (never_) return boost::asio::execution::blocking.never;
    return boost::asio::execution::blocking.possibly;
  }
  ContextExecutor require(boost::asio::execution::blocking_t::never_t) const {
    auto copy = *this;
    copy.never_ = true;
    return copy;
  }
  ContextExecutor require(boost::asio::execution::blocking_t::possibly_t) const {
    auto copy = *this;
    copy.never_ = false;
    return copy;
  }

  template <class Function>
  void execute(Function function) const {
    auto& loop = context_->loop();
    if (!never_ && loop.current() == context_) {
      std::move(function)();
      return;
    }
    struct Call final : Op {
      Call(Context* context, Function what) : Op(context), call(std::move(what)) {}
      void run() override {
        Function what(std::move(call));
        delete this;
        std::move(what)();
      }
      Function call;
    };
    loop.go_on(new Call(context_, std::move(function)));
  }

  friend bool operator==(const ContextExecutor&, const ContextExecutor&) = default;

 private:
  Context* context_;
  bool never_ = false;
};

}  // namespace millrace::sim
