// Leaving: drain and kill.
#include "worker/runtime_fixture.h"

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

class DrainTest : public RuntimeTest {
 protected:
  // Two jobs run, two more wait: after a short one prefetch is on.
  void start_with_prefetch() {
    options.slots = 2;
    options.prefetch = 2;
    store.add("noop");
    start();
    store.add_many(4, "gated");
    advance(2s);
    ASSERT_EQ(gated().started, 2);
    ASSERT_EQ(runtime().status().waiting, 2U);
  }
};

TEST_F(DrainTest, HandsBackWhatHasNotStartedAtOnceAndWithoutCharge) {
  start_with_prefetch();
  runtime().drain();
  settle();
  EXPECT_EQ(store.ended_as(Kind::handback).size(), 2U);
  EXPECT_EQ(store.leases.size(), 2U);  // Those that run.
  EXPECT_FALSE(ended());
}

TEST_F(DrainTest, LetsRunningJobsFinishThenRetires) {
  start_with_prefetch();
  runtime().drain();
  settle();
  EXPECT_TRUE(store.last_draining);
  gated().open.set();
  settle();
  ASSERT_TRUE(ended());
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 3U);
  EXPECT_EQ(store.calls["retire_worker"], 1);
  EXPECT_TRUE(store.processes.empty());
  EXPECT_EQ(store.workers.size(), 1U);  // Nothing registered it again.
  EXPECT_EQ(report().stuck_handlers, 0U);
  EXPECT_FALSE(report().killed);
}

TEST_F(DrainTest, DoesNotRegisterAgainWhileItsRetirementIsUnderWay) {
  Event gate;
  store.gates["retire_worker answer"] = gate;
  start();
  runtime().drain();
  advance(options.beat_interval * 3);  // A beat would be told that the process is unknown.
  EXPECT_FALSE(ended());
  gate.set();
  settle();
  EXPECT_TRUE(ended());
  EXPECT_EQ(store.workers.size(), 1U);
}

TEST_F(DrainTest, ClaimsNothingMore) {
  start();
  runtime().drain();
  settle();
  const auto claims = store.claims.size();
  store.add_many(5, "noop");
  advance(5s);
  EXPECT_EQ(store.claims.size(), claims);
  EXPECT_TRUE(ended());
}

TEST_F(DrainTest, StopsAndHandsBackWhatDoesNotFinishInTime) {
  options.drain_timeout = 5s;
  store.add("gated");
  start();
  runtime().drain();
  advance(4900ms);
  EXPECT_TRUE(store.ended.empty());
  advance(200ms);
  ASSERT_TRUE(ended());
  ASSERT_EQ(store.ended.size(), 1U);
  EXPECT_EQ(store.ended[0].outcome.kind, Kind::handback);
  EXPECT_EQ(gated().stop_reasons.size(), 1U);
}

TEST_F(DrainTest, GivesUpOnAHandlerThatIgnoresItAndSaysSo) {
  options.drain_timeout = 5s;
  const auto id = store.add("stubborn");
  start();
  runtime().drain();
  advance(8s);
  ASSERT_TRUE(ended());
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::handback);
  EXPECT_EQ(report().stuck_handlers, 1U);
  stubborn().open.set();
  settle();
}

TEST_F(DrainTest, ReturnsTheJobsOfAClaimThatWasUnderWay) {
  Event gate;
  store.gates["claim_jobs"] = gate;
  store.add_many(3, "gated");
  start();
  runtime().drain();
  settle();
  EXPECT_FALSE(ended());
  gate.set();
  settle();
  ASSERT_TRUE(ended());
  EXPECT_EQ(gated().started, 0);
  EXPECT_EQ(store.ended_as(Kind::handback).size(), 3U);
  EXPECT_EQ(store.ready["default"].size(), 3U);
}

TEST_F(DrainTest, EndsAlthoughTheDatabaseIsAway) {
  options.drain_timeout = 5s;
  store.add("gated");
  start();
  for (const auto* call : {"settle", "retire_worker", "beat_worker"}) {
    store.trouble[call] = {.calls = 1'000'000};
  }
  gated().open.set();
  settle();
  runtime().drain();
  advance(30s);
  EXPECT_TRUE(ended());
  EXPECT_TRUE(store.ended.empty());
  EXPECT_EQ(store.leases.size(), 1U);  // It expires.
}

TEST_F(DrainTest, CanBeAskedForBeforeTheDatabaseIsThere) {
  store.trouble["ensure_job_types"] = {.calls = 1'000'000};
  store.trouble["register_worker"] = {.calls = 1'000'000};
  start();
  advance(3s);
  runtime().drain();
  advance(1s);
  EXPECT_TRUE(ended());
}

TEST_F(DrainTest, AKillEndsAtOnceAndSaysGoodbyeIfItCan) {
  store.add("gated");
  start();
  runtime().drain();
  settle();
  EXPECT_FALSE(ended());
  runtime().kill();
  settle();
  ASSERT_TRUE(ended());
  EXPECT_TRUE(report().killed);
  EXPECT_EQ(store.calls["retire_worker"], 1);
  EXPECT_EQ(store.ready["default"].size(), 1U);
}

TEST_F(DrainTest, AKillDoesNotWaitForADatabaseThatDoesNotAnswer) {
  store.add("gated");
  start();
  Event gate;
  for (const auto* call : {"retire_worker", "settle", "beat_worker", "claim_jobs"}) {
    store.gates[call] = gate;
  }
  runtime().kill();
  advance(options.kill_timeout * 2);
  EXPECT_TRUE(ended());
  gate.set();
}

}  // namespace
}  // namespace millrace::worker::test
