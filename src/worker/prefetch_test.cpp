#include "worker/prefetch.h"

#include <gtest/gtest.h>

namespace millrace::worker {
namespace {

using namespace std::chrono_literals;

struct TargetCase {
  const char* name;
  PrefetchFacts facts;
  int target;
};

class PrefetchTarget : public ::testing::TestWithParam<TargetCase> {};

TEST_P(PrefetchTarget, IsWhatTheProcessGetsDoneInAMoment) {
  EXPECT_EQ(prefetch_target(GetParam().facts), GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(
    All, PrefetchTarget,
    ::testing::Values(
        TargetCase{"nothing_seen", {.slots = 10, .max = 2000, .step = 2000}, 0},
        TargetCase{"noop", {.slots = 10, .max = 2000, .step = 2000, .average_run_ms = 0.001}, 2000},
        TargetCase{
            "no_time_at_all", {.slots = 10, .max = 2000, .step = 2000, .average_run_ms = 0}, 2000},
        TargetCase{
            "not_grown_yet", {.slots = 10, .max = 2000, .step = 40, .average_run_ms = 0.001}, 40},
        TargetCase{"fifty_ms", {.slots = 10, .max = 2000, .step = 2000, .average_run_ms = 50}, 20},
        TargetCase{
            "fifty_ms_as_seen",
            {.slots = 10, .max = 2000, .step = 2000, .average_run_ms = 50, .starts_per_ms = 0.15},
            15},
        TargetCase{
            "slow_database",
            {.slots = 10, .max = 2000, .step = 2000, .average_run_ms = 0.001, .starts_per_ms = 1},
            100},
        TargetCase{"slow_claims",
                   {.slots = 10,
                    .max = 2000,
                    .step = 2000,
                    .average_run_ms = 0.001,
                    .starts_per_ms = 1,
                    .claim_ms = 250},
                   500},
        TargetCase{"claims_that_hang",
                   {.slots = 10,
                    .max = 2000,
                    .step = 2000,
                    .average_run_ms = 0.001,
                    .starts_per_ms = 1,
                    .claim_ms = 60'000},
                   1000},
        TargetCase{"one_slot", {.slots = 1, .max = 2000, .step = 2000, .average_run_ms = 400}, 0},
        TargetCase{"long", {.slots = 100, .max = 2000, .step = 2000, .average_run_ms = 501}, 0},
        TargetCase{"told_not_to", {.slots = 10, .max = 0, .step = 2000, .average_run_ms = 0}, 0}),
    [](const auto& info) { return info.param.name; });

class PrefetchTest : public ::testing::Test {
 protected:
  // One round: a claim is answered, what it brought is started after `took`.
  void round(bool full, int jobs, Clock::Duration took) {
    prefetch.note_claimed(full, 1ms, now);
    prefetch.note_accepted(now, true);
    now += took;
    for (int i = 0; i < jobs; ++i) prefetch.note_started(now, i + 1 < jobs);
  }

  Clock::Steady now{1h};
  Prefetch prefetch{10, 2000, 500ms};
};

TEST_F(PrefetchTest, BeginsSmallAndGrowsWhileClaimsAreFull) {
  EXPECT_EQ(prefetch.ahead(), 0);
  prefetch.note_run(10us);
  EXPECT_EQ(prefetch.ahead(), 10);
  for (const int expected : {40, 160, 640, 2000, 2000}) {
    prefetch.note_claimed(true, 1ms, now);
    prefetch.note_accepted(now, true);
    now += 10us;
    for (int i = 0; i < 500; ++i) prefetch.note_started(now, true);
    EXPECT_EQ(prefetch.ahead(), expected);
  }
}

TEST_F(PrefetchTest, GrowsOnceMoreWhenWhatAFullRoundBroughtHasRunOut) {
  prefetch.note_run(10us);
  round(true, 10, 10us);
  EXPECT_EQ(prefetch.ahead(), 640);
  prefetch.note_accepted(now, true);
  prefetch.note_dry(now);
  EXPECT_EQ(prefetch.ahead(), 640) << "once for each round";
  round(false, 1, 10us);
  EXPECT_EQ(prefetch.ahead(), 320) << "not when the queue has no more";
}

// Many processes in line for one lane: what each takes must last until it is its turn again.
TEST_F(PrefetchTest, LastsForAsLongAsClaimsTake) {
  prefetch.note_run(10us);
  for (int i = 0; i < 50; ++i) {
    prefetch.note_claimed(true, 200ms, now);
    prefetch.note_accepted(now, true);
    now += 250ms;
    for (int k = 0; k < 500; ++k) prefetch.note_started(now, k + 1 < 500);  // Two a millisecond.
  }
  EXPECT_NEAR(prefetch.ahead(), 800, 40);
}

TEST_F(PrefetchTest, GoesDownWhenTheQueueHasNoMore) {
  prefetch.note_run(10us);
  for (int i = 0; i < 10; ++i) round(true, 100, 10us);
  ASSERT_EQ(prefetch.ahead(), 2000);
  round(false, 1, 10us);
  EXPECT_EQ(prefetch.ahead(), 1000);
  for (int i = 0; i < 20; ++i) round(false, 1, 10us);
  EXPECT_EQ(prefetch.ahead(), 10);
}

TEST_F(PrefetchTest, FollowsWhatIsReallyStarted) {
  prefetch.note_run(10us);
  for (int i = 0; i < 50; ++i) round(true, 500, 250ms);  // Two a millisecond.
  EXPECT_NEAR(prefetch.ahead(), 200, 10);
}

TEST_F(PrefetchTest, TimeInWhichNothingWaitedDoesNotCount) {
  prefetch.note_run(10us);
  for (int i = 0; i < 10; ++i) {
    round(true, 1000, 1ms);
    now += 10s;  // The database took so long to answer the next claim.
  }
  EXPECT_EQ(prefetch.ahead(), 2000);
}

TEST_F(PrefetchTest, JobsThatWaitedTooLongEndItUntilShortOnesAreSeen) {
  prefetch.note_run(10us);
  prefetch.note_aged();
  EXPECT_EQ(prefetch.ahead(), 0);
  for (int i = 0; i < 200; ++i) prefetch.note_run(10us);
  EXPECT_EQ(prefetch.ahead(), 10);
}

}  // namespace
}  // namespace millrace::worker
