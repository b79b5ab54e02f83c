#include "http/rate_limit.h"

#include "http/response.h"
#include "http/response_state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;

class RateLimit : public testing::Test {
 protected:
  bool take(std::string_view key = "a") { return limiter_.take(key, policy_).allowed; }

  ManualClock clock_;
  RateLimiter limiter_{clock_};
  RatePolicy policy_{.name = "perminute", .quota = 6, .window = 60s};  // One every 10 s.
};

TEST_F(RateLimit, AllowsTheBurstAndThenTheRate) {
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(take()) << i;
  EXPECT_FALSE(take());
  clock_.advance(9999ms);
  EXPECT_FALSE(take());
  clock_.advance(1ms);
  EXPECT_TRUE(take());
  EXPECT_FALSE(take());
  clock_.advance(1h);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(take()) << "no more than the bucket holds, " << i;
  EXPECT_FALSE(take());
}

TEST_F(RateLimit, NeverAllowsMoreThanBurstPlusRateOverAnyTime) {
  int allowed = 0;
  for (int i = 0; i < 600; ++i) {  // 600 s, six tries a second.
    for (int j = 0; j < 6; ++j) allowed += take() ? 1 : 0;
    clock_.advance(1s);
  }
  EXPECT_EQ(allowed, 6 + 59);
}

TEST_F(RateLimit, KeysDoNotShare) {
  while (take("a")) {
  }
  EXPECT_TRUE(take("b"));
}

TEST_F(RateLimit, RefusalsCostNothing) {
  while (take()) {
  }
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(take());
  clock_.advance(10s);
  EXPECT_TRUE(take());
}

TEST_F(RateLimit, LookingTakesNothingAndSaysWhatTakingWould) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(limiter_.peek("a", policy_).allowed);
  EXPECT_EQ(limiter_.keys(), 0U) << "a key that was only looked at needs no memory";
  while (take()) {
  }
  const auto seen = limiter_.peek("a", policy_);
  EXPECT_FALSE(seen.allowed);
  EXPECT_EQ(seen.retry_after, limiter_.take("a", policy_).retry_after);
  clock_.advance(10s);
  EXPECT_TRUE(limiter_.peek("a", policy_).allowed);
  EXPECT_TRUE(take()) << "the look took nothing";
  EXPECT_FALSE(take());
}

TEST_F(RateLimit, SaysWhatIsLeftAndWhenToComeBack) {
  auto decision = limiter_.take("a", policy_);
  EXPECT_EQ(decision.remaining, 5U);
  EXPECT_EQ(decision.full_after, 10s);
  EXPECT_EQ(decision.retry_after, 0s);
  for (int i = 0; i < 5; ++i) decision = limiter_.take("a", policy_);
  EXPECT_EQ(decision.remaining, 0U);
  EXPECT_EQ(decision.full_after, 60s);
  clock_.advance(2500ms);
  decision = limiter_.take("a", policy_);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.retry_after, 8s) << "7.5 s, rounded up";
  clock_.advance(decision.retry_after);
  EXPECT_TRUE(limiter_.take("a", policy_).allowed) << "who waits as told is let in";
}

TEST_F(RateLimit, ACostlyRequestTakesSeveral) {
  EXPECT_TRUE(limiter_.take("a", policy_, 4).allowed);
  EXPECT_FALSE(limiter_.take("a", policy_, 3).allowed);
  EXPECT_TRUE(limiter_.take("a", policy_, 2).allowed);
  EXPECT_FALSE(limiter_.take("b", policy_, 7).allowed) << "more than the bucket ever holds";
  EXPECT_FALSE(limiter_.take("b", policy_, ~0ULL).allowed);
}

TEST_F(RateLimit, BurstMayDifferFromTheQuota) {
  policy_.burst = 2;
  EXPECT_TRUE(take());
  EXPECT_TRUE(take());
  EXPECT_FALSE(take());
}

TEST_F(RateLimit, ForgetsTheIdleBeforeTheBusy) {
  RateLimiter small(clock_, 160);
  while (small.take("busy", policy_).allowed) {
  }
  for (int i = 0; i < 5000; ++i) {
    small.take("idle " + std::to_string(i), policy_);
    ASSERT_LE(small.keys(), 160U);
  }
  EXPECT_FALSE(small.take("busy", policy_).allowed);
}

TEST_F(RateLimit, ExtremePoliciesDoNotOverflow) {
  for (const std::uint64_t quota : {1ULL, 1'000'000'000'000ULL, ~0ULL >> 1U}) {
    for (const std::uint64_t burst : {0ULL, 1ULL, ~0ULL}) {
      const RatePolicy policy{.quota = quota, .window = 86400s, .burst = burst};
      EXPECT_TRUE(
          limiter_.take(std::to_string(quota) + "/" + std::to_string(burst), policy).allowed);
    }
  }
}

TEST_F(RateLimit, HoldsUnderManyThreads) {
  policy_ = {.quota = 1000, .window = 3600s};
  std::atomic<int> allowed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) allowed += take("shared") ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(allowed, 1000);
}

TEST_F(RateLimit, HeadersAreThoseOfTheDraft) {
  ResponseState state;
  ResponseWriter response(state);
  add_rate_headers(response, policy_, limiter_.take("a", policy_));
  EXPECT_EQ(state.lines,
            "RateLimit-Policy: \"perminute\";q=6;w=60\r\n"
            "RateLimit: \"perminute\";r=5;t=10\r\n");
  state.lines.clear();
  while (take()) {
  }
  add_rate_headers(response, policy_, limiter_.take("a", policy_));
  EXPECT_EQ(state.lines,
            "RateLimit-Policy: \"perminute\";q=6;w=60\r\n"
            "RateLimit: \"perminute\";r=0;t=60\r\n"
            "Retry-After: 10\r\n");
}

}  // namespace
}  // namespace millrace::http
