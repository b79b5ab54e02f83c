// Backoff: pauses between attempts that fail, doubling up to a cap, each with jitter of a half.
#pragma once

#include "base/random.h"

#include <algorithm>
#include <chrono>

namespace millrace::worker {

class Backoff {
 public:
  Backoff(Random& random, std::chrono::milliseconds min, std::chrono::milliseconds max)
      : random_(random), min_(min), max_(max), next_(min) {}

  std::chrono::milliseconds next() {
    const auto pause = next_;
    next_ = std::min(next_ * 2, max_);
    return random_.jitter(pause, 0.5);
  }
  void reset() { next_ = min_; }

 private:
  Random& random_;
  std::chrono::milliseconds min_;
  std::chrono::milliseconds max_;
  std::chrono::milliseconds next_;
};

}  // namespace millrace::worker
