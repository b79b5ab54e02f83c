#include "sim/limiter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace millrace::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kBuckets = 60;

}  // namespace

std::int64_t Limiter::bucket_at(Time at, Time window) {
  const auto length = (window.count() + kBuckets - 1) / kBuckets;
  return at.count() / length;
}

int Limiter::used(const Buckets& buckets, Time at, Time window) {
  int sum = 0;
  for (auto it = buckets.lower_bound(bucket_at(at, window) - kBuckets); it != buckets.end(); ++it) {
    sum += it->second;
  }
  return sum;
}

int Limiter::sweep(const Holds& holds) {
  return static_cast<int>(
      std::erase_if(slots_, [&](const Slot& slot) { return !holds(slot.id, slot.token); }));
}

int Limiter::room(Time now, const Holds& holds) {
  const auto at = std::max(now, last_grant_at_.value_or(now));
  if (throttled_until_ > at) return 0;
  if (breaker_ == Breaker::open && breaker_until_ > at) return 0;
  sweep(holds);
  auto room = std::numeric_limits<int>::max();
  const auto limit = [&](std::optional<int> most, int have) {
    if (most) room = std::min(room, *most - have);
  };
  limit(policy_.requests_per_minute, used(minute_, at, policy_.minute_window));
  limit(policy_.requests_per_hour, used(hour_, at, policy_.hour_window));
  limit(policy_.concurrent_requests, static_cast<int>(slots_.size()));
  if (breaker_ != Breaker::closed) {
    const auto probes = std::ranges::count_if(slots_, [&](const Slot& slot) {
      return breaker_until_ && slot.acquired_at >= breaker_until_;
    });
    room = std::min(room, 1 - static_cast<int>(probes));
  }
  return std::max(0, room);
}

void Limiter::take(Time now, JobId id, LeaseToken token) {
  const auto at = std::max(now, last_grant_at_.value_or(now));
  ++minute_[bucket_at(at, policy_.minute_window)];
  ++hour_[bucket_at(at, policy_.hour_window)];
  slots_.push_back({.id = id, .token = token, .acquired_at = at});
  last_grant_at_ = at;
  if (breaker_ == Breaker::open) breaker_ = Breaker::half_open;  // This is its probe.
}

void Limiter::settle(Time now, JobId id, LeaseToken token, std::string_view outcome,
                     std::optional<Time> until) {
  const auto at = std::max(now, last_grant_at_.value_or(now));
  auto state = breaker_;
  if (state == Breaker::open && breaker_until_ <= at) state = Breaker::half_open;
  std::optional<Time> acquired_at;
  std::erase_if(slots_, [&](const Slot& slot) {
    if (slot.id != id || slot.token != token) return false;
    acquired_at = slot.acquired_at;
    return true;
  });
  const bool counts = state == Breaker::closed || (state == Breaker::half_open &&
                                                   (!acquired_at || acquired_at >= breaker_until_));
  if ((outcome == "ok" || outcome == "partial") && counts) {
    state = Breaker::closed;
    breaker_until_.reset();
    failures_ = 0;
    opens_ = 0;
  } else if (outcome == "throttled") {
    const auto wanted = std::min<Time>(at + 24h, until.value_or(at + policy_.backpressure_delay));
    throttled_until_ = std::max(throttled_until_.value_or(wanted), wanted);
  } else if ((outcome == "retry" && counts) || (outcome == "blocked" && state != Breaker::open)) {
    ++failures_;
    if (outcome == "blocked" || state == Breaker::half_open ||
        failures_ >= policy_.breaker_threshold) {
      state = Breaker::open;
      const auto longer = std::chrono::duration<double, std::micro>(policy_.breaker_cooldown) *
                          std::pow(2.0, std::min(opens_, 20));
      const auto capped =
          std::min<std::chrono::duration<double, std::micro>>(longer, std::chrono::minutes(10));
      breaker_until_ =
          at + std::max(policy_.breaker_cooldown, std::chrono::duration_cast<Time>(capped));
      ++opens_;
    }
  }
  if (outcome == "blocked" && state == Breaker::open && until) {
    breaker_until_ = std::max(*breaker_until_, std::min<Time>(*until, at + 24h));
  }
  breaker_ = state;
}

}  // namespace millrace::sim
