// RateLimiter: a token bucket per key, and the headers that tell the client about it.
//
// Flow: whoever knows the key (a tenant, an API key, an address) calls take() before the work;
// `allowed` decides, and add_rate_headers puts RateLimit-Policy, RateLimit and, for a refusal,
// Retry-After into the answer. A bucket is one number, the time at which it will be full again, so
// a key that has not been seen for that long needs no memory. Threading: any thread; keys are
// spread over locks. Lifetime: the clock outlives it.
#pragma once

#include "base/clock.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::http {

class ResponseWriter;

struct RatePolicy {
  std::string name = "default";     // Lower-case letters, digits, - and _ .
  std::uint64_t quota = 100;        // Requests per window, at least 1.
  std::chrono::seconds window{60};  // At least 1 s.
  std::uint64_t burst = 0;          // Size of the bucket; 0: the quota.
};

struct RateDecision {
  bool allowed = true;
  std::uint64_t remaining = 0;          // Requests that would be allowed right now.
  std::chrono::seconds full_after{0};   // Until the bucket is full again, rounded up.
  std::chrono::seconds retry_after{0};  // Until this request would be allowed; 0 when it was.
};

class RateLimiter {
 public:
  // With more than `keys_max` keys, those with the fullest buckets are forgotten first.
  explicit RateLimiter(const Clock& clock, std::size_t keys_max = 100'000);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Takes `cost` tokens from the key's bucket, or none when there are not as many. A key may come
  // with another policy than before: what it has used stays used.
  RateDecision take(std::string_view key, const RatePolicy& policy, std::uint64_t cost = 1);
  // What take() would say, without taking anything: for whoever must decide before it is known
  // whether the request is one that counts.
  RateDecision peek(std::string_view key, const RatePolicy& policy, std::uint64_t cost = 1) const;

  std::size_t keys() const;

 private:
  struct Part;
  Part& part_of(std::string_view key) const;

  const Clock& clock_;
  std::size_t keys_per_part_max_;
  std::unique_ptr<Part[]> parts_;
};

// `RateLimit-Policy: "default";q=100;w=60` and `RateLimit: "default";r=99;t=1`.
std::string rate_limit_policy(const RatePolicy& policy);
std::string rate_limit(const RatePolicy& policy, const RateDecision& decision);
void add_rate_headers(ResponseWriter& response, const RatePolicy& policy,
                      const RateDecision& decision);

}  // namespace millrace::http
