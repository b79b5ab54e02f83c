// Budget: how much work and how much nesting one call may cost.
//
// A hostile schema or value can ask for any amount of work; every loop takes its steps from here,
// and once they are used up everything answers false and comes to its end. The one who holds the
// budget then reports that instead of the answer. One thread, one call.
#pragma once

#include <cstdint>

namespace millrace::schema {

class Budget {
 public:
  Budget(std::uint64_t steps, std::uint32_t depth_max)
      : steps_left_(steps), depth_max_(depth_max) {}

  bool spend(std::uint64_t steps) {
    if (steps_left_ < steps) {
      steps_left_ = 0;
      exhausted_ = true;
    } else {
      steps_left_ -= steps;
    }
    return !exhausted_;
  }

  bool enter() {
    if (++depth_ > depth_max_) too_deep_ = true;
    return !stopped();
  }
  void leave() { --depth_; }

  void exhaust() { exhausted_ = true; }
  bool stopped() const { return exhausted_ || too_deep_; }
  bool too_deep() const { return too_deep_; }
  std::uint64_t& steps_left() { return steps_left_; }

 private:
  std::uint64_t steps_left_;
  std::uint32_t depth_ = 0;
  std::uint32_t depth_max_;
  bool exhausted_ = false;
  bool too_deep_ = false;
};

}  // namespace millrace::schema
