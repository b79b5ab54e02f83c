#include "http/rate_limit.h"

#include "base/assert.h"
#include "http/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>

namespace millrace::http {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr std::size_t kParts = 16;
constexpr Nanoseconds kDepthMax = std::chrono::years(10);  // Keeps sums of times in range.
constexpr std::size_t kLookedAt = 16;  // How many keys compete for being forgotten.

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
};

std::chrono::seconds rounded_up(Nanoseconds time) {
  return std::chrono::ceil<std::chrono::seconds>(std::max(time, Nanoseconds::zero()));
}

// A decision, and how much of the bucket is used once it has been carried out.
struct Weighed {
  RateDecision decision;
  Nanoseconds used_after{0};
};

Weighed weigh(Nanoseconds full_in, const RatePolicy& policy, std::uint64_t cost) {
  MR_ASSERT(policy.quota > 0);
  MR_ASSERT(policy.window > std::chrono::seconds::zero());
  const Nanoseconds per_token = std::max(
      Nanoseconds(policy.window) / static_cast<std::int64_t>(policy.quota), Nanoseconds(1));
  const auto size = std::clamp<std::uint64_t>(policy.burst == 0 ? policy.quota : policy.burst, 1,
                                              kDepthMax / per_token);
  const Nanoseconds depth = per_token * size;  // How far in the future "full" may lie.
  const Nanoseconds price = per_token * std::min(cost, size + 1);
  const Nanoseconds used = std::max(full_in, Nanoseconds::zero());
  RateDecision decision{.allowed = used + price <= depth};
  const Nanoseconds used_after = decision.allowed ? used + price : used;
  decision.remaining =
      used_after >= depth ? 0 : static_cast<std::uint64_t>((depth - used_after) / per_token);
  decision.full_after = rounded_up(used_after);
  if (!decision.allowed) {
    // At least a second: the client is to wait, and Retry-After knows no fractions.
    decision.retry_after = std::max(rounded_up(used + price - depth), std::chrono::seconds(1));
  }
  return {.decision = decision, .used_after = used_after};
}

}  // namespace

struct RateLimiter::Part {
  mutable std::mutex mutex;  // Guards full_at.
  std::unordered_map<std::string, Clock::Steady, Hash, std::equal_to<>> full_at;

  // Makes room for one key: those with full buckets cost nothing to forget. If none of the few we
  // look at is full, the one that will be full first loses least.
  void forget_one(Clock::Steady now) {
    auto best = full_at.begin();
    std::size_t looked_at = 0;
    for (auto it = full_at.begin(); it != full_at.end() && looked_at < kLookedAt; ++looked_at) {
      if (it->second <= now) {
        it = full_at.erase(it);
        best = full_at.end();
        continue;
      }
      if (best != full_at.end() && it->second < best->second) best = it;
      ++it;
    }
    if (best != full_at.end()) full_at.erase(best);
  }
};

RateLimiter::RateLimiter(const Clock& clock, std::size_t keys_max)
    : clock_(clock),
      keys_per_part_max_(std::max<std::size_t>(keys_max / kParts, 1)),
      parts_(std::make_unique<Part[]>(kParts)) {}

RateLimiter::~RateLimiter() = default;

RateLimiter::Part& RateLimiter::part_of(std::string_view key) const {
  return parts_[(Hash()(key) >> 7U) % kParts];
}

RateDecision RateLimiter::take(std::string_view key, const RatePolicy& policy, std::uint64_t cost) {
  const auto now = clock_.now();
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  auto found = part.full_at.find(key);
  if (found == part.full_at.end()) {
    if (part.full_at.size() >= keys_per_part_max_) part.forget_one(now);
    found = part.full_at.emplace(std::string(key), now).first;
  }
  const auto [decision, used_after] = weigh(found->second - now, policy, cost);
  if (decision.allowed) found->second = now + used_after;
  return decision;
}

RateDecision RateLimiter::peek(std::string_view key, const RatePolicy& policy,
                               std::uint64_t cost) const {
  const auto now = clock_.now();
  const Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  const auto found = part.full_at.find(key);
  const auto full_in = found == part.full_at.end() ? Nanoseconds::zero() : found->second - now;
  return weigh(full_in, policy, cost).decision;
}

std::size_t RateLimiter::keys() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    const std::lock_guard lock(parts_[i].mutex);
    count += parts_[i].full_at.size();
  }
  return count;
}

std::string rate_limit_policy(const RatePolicy& policy) {
  return fmt::format("\"{}\";q={};w={}", policy.name, policy.quota, policy.window.count());
}

std::string rate_limit(const RatePolicy& policy, const RateDecision& decision) {
  return fmt::format("\"{}\";r={};t={}", policy.name, decision.remaining,
                     decision.full_after.count());
}

void add_rate_headers(ResponseWriter& response, const RatePolicy& policy,
                      const RateDecision& decision) {
  response.header("RateLimit-Policy", rate_limit_policy(policy));
  response.header("RateLimit", rate_limit(policy, decision));
  if (!decision.allowed) {
    response.header("Retry-After", std::to_string(decision.retry_after.count()));
  }
}

}  // namespace millrace::http
