// Claiming: polling, wake-ups, marks, weights, suspects, prefetch.
#include "worker/runtime_fixture.h"

#include <algorithm>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

// Hints when the test says so.
class FakeWakeSource final : public store::WakeSource {
 public:
  Task<bool> wait(std::chrono::milliseconds timeout) override {
    ++waits;
    if (broken) co_return fail(ErrorKind::unavailable, "no direct connection");
    if (timeout == 0ms) co_return false;
    co_await hint.wait();
    hint.reset();
    co_return true;
  }
  Event hint;
  bool broken = false;
  int waits = 0;
};

class FetcherTest : public RuntimeTest {
 protected:
  std::size_t claims_of(const std::string& queue) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        store.claims, [&](const auto& claim) { return claim.queue == queue; }));
  }
  FakeWakeSource source;
};

TEST_F(FetcherTest, AsksAnEmptyQueueTwiceAtOnceAndThenPolls) {
  wake = &source;
  options.poll_interval = 2s;
  start();
  store.claims.clear();
  source.hint.set();
  settle();
  EXPECT_EQ(store.claims.size(), 2U);
  advance(60s, 100ms);  // After 2, 4, 8 and then every 10 s.
  EXPECT_GE(store.claims.size(), 7U);
  EXPECT_LE(store.claims.size(), 12U);
}

TEST_F(FetcherTest, WithoutNotificationsItPollsSoonAndThenLessOften) {
  options.poll_interval = 1s;
  start();
  const auto at_start = store.claims.size();
  advance(500ms, 5ms);
  const auto early = store.claims.size() - at_start;
  EXPECT_GE(early, 3U);
  store.claims.clear();
  advance(60s, 50ms);
  EXPECT_GE(store.claims.size(), 50U);
  EXPECT_LE(store.claims.size(), 75U);
}

TEST_F(FetcherTest, ANotificationBringsTheJobWithoutWaitingForThePoll) {
  wake = &source;
  options.poll_interval = 60s;
  start();
  advance(1s);
  store.add("noop");
  advance(1s);
  EXPECT_TRUE(store.ended.empty());
  source.hint.set();
  settle();
  EXPECT_EQ(store.ended.size(), 1U);
}

TEST_F(FetcherTest, PollingIsTheGuaranteeWhenNotificationsFail) {
  wake = &source;
  source.broken = true;
  start();
  store.add("noop");
  advance(3s);
  EXPECT_EQ(store.ended.size(), 1U);
  advance(60s, 500ms);
  EXPECT_LE(source.waits, 30);  // Trying to listen backs off.
}

TEST_F(FetcherTest, WhatCameWhileNobodyListenedIsLookedForAtOnce) {
  wake = &source;
  source.broken = true;
  options.poll_interval = 24h;
  start();
  advance(600s, 500ms);  // By now it polls once in many minutes.
  store.add("noop");
  advance(20s);
  ASSERT_TRUE(store.ended.empty());
  source.broken = false;
  advance(15s);
  EXPECT_EQ(store.ended.size(), 1U);
}

TEST_F(FetcherTest, AFreeSlotIsFilledWithoutWaitingForThePoll) {
  options.slots = 1;
  options.poll_interval = 60s;
  store.add_many(50, "noop");
  start();
  EXPECT_EQ(store.ended.size(), 50U);
}

// C-18: a queue that lets only so many run has had no more for us; what ends makes room.
TEST_F(FetcherTest, c18_TheEndOfAJobIsAReasonToAskItsQueueAgain) {
  options.poll_interval = 60s;
  store.add("gated");
  start();
  advance(1s);
  store.add("noop");
  settle();
  ASSERT_TRUE(store.ended.empty());
  gated().open.set();
  settle();
  EXPECT_EQ(store.ended.size(), 2U);
  store.claims.clear();
  settle();
  EXPECT_TRUE(store.claims.empty()) << "once for each end, no more";
}

// Nearly all of these questions are answered with nothing: its jobs wait for each other.
TEST_F(FetcherTest, AQueueWithALimitIsNotAskedAtEveryHint) {
  wake = &source;
  store.limited = {{"default"}};
  start();
  advance(60s);
  store.claims.clear();
  for (int i = 0; i < 10; ++i) {
    source.hint.set();
    settle();
  }
  EXPECT_EQ(store.claims.size(), 1U) << "the first is heard at once";
  store.add("noop");
  advance(20ms);
  EXPECT_EQ(store.ended.size(), 1U) << "the others after a moment";
  advance(100ms);
  EXPECT_LE(store.claims.size(), 4U);
}

TEST_F(FetcherTest, PassesMarksBetweenFullScansAndForgetsThemAfterAShortClaim) {
  options.slots = 2;
  options.rescan_interval = 250ms;
  store.add_many(6, "gated");
  start();
  ASSERT_EQ(store.claims.size(), 1U);
  EXPECT_EQ(store.claims[0].marks, std::nullopt);
  gated().open.set();
  settle();
  ASSERT_EQ(store.ended.size(), 6U);
  ASSERT_GE(store.claims.size(), 4U);
  ASSERT_TRUE(store.claims[1].marks.has_value());
  EXPECT_EQ(store.claims[1].marks->at("1:t:5"), 2);
  ASSERT_TRUE(store.claims[2].marks.has_value());
  EXPECT_EQ(store.claims[2].marks->at("1:t:5"), 4);
  // The claim after the last job came back short: everything is looked at again.
  const auto last = std::ranges::find_if(
      store.claims, [](const auto& claim) { return claim.marks && claim.marks->at("1:t:5") == 6; });
  ASSERT_NE(last, store.claims.end());
  ASSERT_NE(last + 1, store.claims.end());
  EXPECT_EQ((last + 1)->marks, std::nullopt);
}

TEST_F(FetcherTest, LooksAtEverythingAgainAfterTheRescanInterval) {
  options.slots = 1;
  store.add_many(3, "gated");
  start();
  advance(300ms);
  gated().open.set();
  settle();
  ASSERT_GE(store.claims.size(), 2U);
  EXPECT_EQ(store.claims[1].marks, std::nullopt);
  ASSERT_GE(store.claims.size(), 3U);
  EXPECT_TRUE(store.claims[2].marks.has_value());
}

TEST_F(FetcherTest, SharesTheSlotsByWeightAndGivesWhatOneLeavesToTheOther) {
  options.slots = 12;
  options.queues = {{.name = "heavy", .weight = 3}, {.name = "light", .weight = 1}};
  for (int i = 0; i < 30; ++i) {
    store.add("gated", "heavy");
    store.add("gated", "light");
  }
  start();
  const auto leased = [&](const std::string& queue) {
    return std::ranges::count_if(
        store.leases, [&](const auto& lease) { return lease.second.job.queue == queue; });
  };
  EXPECT_EQ(leased("heavy"), 9);
  EXPECT_EQ(leased("light"), 3);
  store.ready["heavy"].clear();
  gated().open.set();
  settle();
  gated().open.reset();
  EXPECT_EQ(store.ready["light"].size(), 0U);
}

TEST_F(FetcherTest, AnUnknownQueueDoesNotStopTheOthers) {
  options.queues = {{.name = "missing"}, {.name = "default"}};
  store.unknown_queues = {"missing"};
  start();
  store.add_many(3, "noop");
  advance(2s);
  EXPECT_EQ(store.ended.size(), 3U);
  advance(28s);
  EXPECT_LE(claims_of("missing"), 4U);  // Not again and again, and not never.
  EXPECT_GE(claims_of("missing"), 3U);
}

TEST_F(FetcherTest, SuspectsRunAlone) {
  options.slots = 4;
  store.add_many(2, "gated");
  start();
  ASSERT_EQ(gated().started, 2);
  ClaimedJob suspect;
  suspect.id = JobId{Uuid{{7}}};
  suspect.job_type = "stubborn";
  suspect.lease = 600s;
  store.suspects = {suspect};
  advance(10s);
  store.add_many(2, "gated");
  advance(10s);
  EXPECT_EQ(gated().started, 2);  // It claims nothing while it waits to be alone.
  EXPECT_EQ(stubborn().started, 0);
  gated().open.set();
  settle();
  ASSERT_EQ(stubborn().started, 1);
  EXPECT_TRUE(store.leases.at(suspect.id).job.alone);
  advance(10s);
  EXPECT_EQ(gated().started, 2);  // Nothing beside it.
  stubborn().open.set();
  advance(10s);
  EXPECT_EQ(gated().started, 4);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 5U);
  for (const auto& claim : store.claims) {
    if (claim.alone) EXPECT_EQ(claim.limit, 1);
  }
}

TEST_F(FetcherTest, SuspectsOfOthersDoNotStopTheWorkAgainAndAgain) {
  ClaimedJob suspect;
  suspect.job_type = "somebody elses";
  store.suspects = {suspect};
  start();
  advance(600s, 500ms);
  const auto alone =
      std::ranges::count_if(store.claims, [](const auto& claim) { return claim.alone; });
  EXPECT_GE(alone, 2);
  EXPECT_LE(alone, 12);
  store.add("noop");
  advance(2s);
  EXPECT_EQ(store.ended.size(), 1U);
}

TEST_F(FetcherTest, PrefetchedJobsThatWaitTooLongGoBackWithoutCharge) {
  options.slots = 1;
  options.prefetch = 4;
  store.add("noop");
  start();
  store.add_many(5, "gated");
  advance(1500ms);
  ASSERT_EQ(runtime().status().waiting, 4U);
  advance(5s);
  EXPECT_EQ(runtime().status().waiting, 0U);
  EXPECT_EQ(store.ended_as(Kind::handback).size(), 4U);
  EXPECT_EQ(store.ready["default"].size(), 4U);  // And are not claimed again while it is busy.
}

TEST_F(FetcherTest, CancellingAPrefetchedJobNeedsNoHandler) {
  options.slots = 1;
  options.prefetch = 4;
  options.beat_interval = 500ms;
  store.add("noop");
  start();
  store.add("gated");
  advance(1s);
  const auto waiting = store.add("gated");
  advance(1s);
  ASSERT_EQ(runtime().status().waiting, 1U);
  store.cancel_requests = {
      {.id = waiting, .token = store.leases.at(waiting).job.token, .reason = "no"}};
  advance(1s);
  ASSERT_NE(store.end_of(waiting), nullptr);
  EXPECT_EQ(store.end_of(waiting)->outcome.kind, Kind::cancelled);
  EXPECT_EQ(gated().started, 1);
}

}  // namespace
}  // namespace millrace::worker::test
