// Usage: what a call took, in tokens, as the service counts them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace millrace::provider {

// No service counts more in one call; figures above come from a broken one.
inline constexpr std::uint64_t kTokensMax = 1'000'000'000'000;

struct Usage {
  std::uint64_t input = 0;   // All of it, what came from the service's cache included.
  std::uint64_t output = 0;  // With what the model thought and did not say.
  std::uint64_t cached = 0;  // The part of `input` that came from the cache.
  bool reported = false;     // False: the service gave no figures; settle with the estimate.

  std::uint64_t total() const { return input + output; }
  friend bool operator==(const Usage&, const Usage&) = default;
};

}  // namespace millrace::provider
