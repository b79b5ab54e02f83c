// Random: where chance comes from. SystemRandom for the program (tokens, jitter), SeededRandom for
// tests, which print their seed.
#pragma once

#include "base/uuid.h"

#include <chrono>
#include <cstdint>
#include <mutex>

namespace millrace {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;  // All 64 bits random. Thread-safe in both implementations.

  double uniform();                          // In [0, 1).
  std::uint64_t below(std::uint64_t bound);  // In [0, bound), without bias; bound > 0.
  std::int64_t between(std::int64_t low, std::int64_t high);  // Both ends included.
  Uuid uuid();                                                // Version 4.

  // `duration` changed by up to `share` of itself either way: jitter(10s, 0.2) is 8 s to 12 s.
  std::chrono::milliseconds jitter(std::chrono::milliseconds duration, double share);
};

// The kernel's generator: unpredictable, fit for tokens.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

// Reproducible: the same seed gives the same sequence on every machine.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::mutex mutex_;  // Guards state_.
  std::uint64_t state_;
};

}  // namespace millrace
