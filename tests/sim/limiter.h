// Limiter: the model of provider limits, after sql/functions/limit: requests in two windows of 61
// sub-buckets, concurrent requests as slots that live as long as a lease, the circuit breaker, and
// a provider's wish to be left alone. Tokens are not modelled.
#pragma once

#include "base/uuid.h"
#include "sim/loop.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::sim {

struct LimitPolicy {
  std::optional<int> requests_per_minute;
  std::optional<int> requests_per_hour;
  std::optional<int> concurrent_requests;
  Time minute_window = std::chrono::seconds(60);
  Time hour_window = std::chrono::seconds(3600);
  Time backpressure_delay = std::chrono::seconds(5);
  int breaker_threshold = 5;
  Time breaker_cooldown = std::chrono::seconds(30);
};

class Limiter {
 public:
  using Holds = std::function<bool(JobId id, LeaseToken token)>;  // A lease with this token lives.
  enum class Breaker { closed, open, half_open };

  explicit Limiter(LimitPolicy policy) : policy_(policy) {}

  // How many requests may be granted at this instant.
  int room(Time now, const Holds& holds);
  void take(Time now, JobId id, LeaseToken token);
  // One settled delivery. `outcome` is named as in SQL.
  void settle(Time now, JobId id, LeaseToken token, std::string_view outcome,
              std::optional<Time> until);
  int sweep(const Holds& holds);

  const LimitPolicy& policy() const { return policy_; }
  Breaker breaker() const { return breaker_; }
  std::size_t slots() const { return slots_.size(); }
  std::optional<Time> throttled_until() const { return throttled_until_; }

 private:
  struct Slot {
    JobId id;
    LeaseToken token;
    Time acquired_at;
  };
  using Buckets = std::map<std::int64_t, int>;

  static std::int64_t bucket_at(Time at, Time window);
  static int used(const Buckets& buckets, Time at, Time window);

  LimitPolicy policy_;
  Buckets minute_;
  Buckets hour_;
  std::vector<Slot> slots_;
  std::optional<Time> last_grant_at_;
  std::optional<Time> throttled_until_;
  Breaker breaker_ = Breaker::closed;
  std::optional<Time> breaker_until_;
  int failures_ = 0;
  int opens_ = 0;
};

}  // namespace millrace::sim
