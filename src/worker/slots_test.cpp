// Slots: what a handler occupies and for how long, what may wait behind it, and that nobody
// starves.
#include "worker/runtime_fixture.h"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

// Calls `body` and succeeds at once, without waiting for anything.
class InlineHandler final : public Handler {
 public:
  explicit InlineHandler(std::function<void(std::shared_ptr<JobContext>)> body)
      : body_(std::move(body)) {}
  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override {
    body_(std::move(context));
    co_return Outcome::ok();
  }

 private:
  std::function<void(std::shared_ptr<JobContext>)> body_;
};

class SlotsTest : public RuntimeTest {
 protected:
  void add_inline(std::function<void(std::shared_ptr<JobContext>)> body) {
    ASSERT_TRUE(
        handlers.add("inline", std::make_unique<InlineHandler>(std::move(body))).has_value());
  }
  void hold_settlements() { store.gates["settle"] = gate; }
  void let_settlements_go() {
    store.gates.clear();
    gate.set();
    settle();
  }
  Event gate;
};

// ---- results on their way ----

TEST_F(SlotsTest, ASlotIsFreeBeforeItsResultIsDurable) {
  options.slots = 1;
  hold_settlements();
  store.add_many(3, "noop");
  start();
  advance(1s);
  EXPECT_EQ(runtime().status().unsettled, 3U);
  EXPECT_EQ(runtime().status().running, 0U);
  EXPECT_TRUE(store.ended.empty());
  let_settlements_go();
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 3U);
  EXPECT_EQ(runtime().status().unsettled, 0U);
}

TEST_F(SlotsTest, StartsNothingWhileTooManyResultsWait) {
  options.slots = 2;
  options.unsettled_max = 5;
  hold_settlements();
  store.add_many(20, "noop");
  start();
  advance(1s);
  EXPECT_EQ(runtime().status().unsettled, 5U);
  EXPECT_LE(store.leases.size(), 7U);
  let_settlements_go();
  advance(3s);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 20U);
}

TEST_F(SlotsTest, TheUsualBoundIsFarAboveWhatOneCallTakes) {
  options.slots = 3;
  options.prefetch = 2000;
  hold_settlements();
  store.add_many(8000, "noop");
  start();
  advance(1s);
  EXPECT_EQ(runtime().status().unsettled, 4000U);
  let_settlements_go();
  advance_until([&] { return store.ended_as(Kind::ok).size() == 8000; });
}

TEST_F(SlotsTest, WhileResultsCannotBeStoredEachKeepsItsSlot) {
  options.slots = 3;
  options.prefetch = 2000;
  store.trouble["settle"] = {.calls = 1'000'000};
  store.add_many(100, "noop");
  start();
  advance(1s);
  const auto held = store.leases.size();
  EXPECT_LE(held, 3U + 3U + 16U);  // What was claimed before the first call had failed.
  advance(20s);
  EXPECT_EQ(store.leases.size(), held);
  EXPECT_EQ(runtime().status().running, 0U);
  store.trouble.clear();
  advance(10s);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 100U);
}

TEST_F(SlotsTest, ADrainWaitsForResultsOnTheirWay) {
  options.slots = 1;
  hold_settlements();
  store.add_many(3, "noop");
  start();
  advance(1s);
  ASSERT_EQ(runtime().status().unsettled, 3U);
  runtime().drain();
  advance(5s);
  EXPECT_FALSE(ended());
  let_settlements_go();
  ASSERT_TRUE(ended());
  EXPECT_EQ(report().settled, 3U);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 3U);
}

TEST_F(SlotsTest, ResultsOnTheirWayWhenTheLeaseIsLostAreLeftToTheFence) {
  options.slots = 2;
  hold_settlements();
  store.add_many(2, "noop");
  const auto running = store.add("gated");
  start();
  advance(1s);
  ASSERT_EQ(runtime().status().unsettled, 2U);
  ASSERT_EQ(gated().started, 1);
  store.declare_dead();
  store.ready.clear();  // Another process has them.
  advance_until([&] { return store.workers.size() == 2; });
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
  EXPECT_EQ(runtime().status().unsettled, 2U);
  const auto next = store.add("noop");
  advance(1s);
  let_settlements_go();
  advance(3s);
  EXPECT_EQ(runtime().status().fenced, 3U);
  EXPECT_EQ(store.end_of(running), nullptr);
  ASSERT_NE(store.end_of(next), nullptr);  // It goes on under its new name.
  EXPECT_EQ(store.ended.size(), 1U);
}

// ---- one timer for all ----

TEST_F(SlotsTest, EachRunIsStoppedWhenItIsDueWhateverTheOthersAreAllowed) {
  const auto add = [&](std::chrono::milliseconds allowed) {
    store.run_timeout = allowed;
    return store.add("gated");
  };
  const auto longest = add(30s);
  const auto shortest = add(10s);
  const auto middle = add(20s);
  start();
  ASSERT_EQ(gated().started, 3);
  const auto ended = [&](JobId id) { return store.end_of(id) != nullptr; };
  advance(9'900ms);
  EXPECT_TRUE(store.ended.empty());
  advance(200ms);
  EXPECT_TRUE(ended(shortest));
  EXPECT_EQ(store.ended.size(), 1U);
  const auto late = add(2s);  // Begins last and is due first.
  advance_until([&] { return gated().started == 4; });
  advance(1'900ms);
  EXPECT_FALSE(ended(late));
  advance(200ms);
  EXPECT_TRUE(ended(late));
  EXPECT_FALSE(ended(middle));
  advance_until([&] { return ended(middle); }, 9s);
  EXPECT_FALSE(ended(longest));
  advance_until([&] { return ended(longest); }, 12s);
  for (const auto& end : store.ended) EXPECT_EQ(end.outcome.kind, Kind::retry);
}

TEST_F(SlotsTest, ADeadlineOfAJobThatHasEndedStopsNobody) {
  store.run_timeout = 5s;
  store.add("noop");
  start();
  store.run_timeout = 60s;
  const auto id = store.add("gated");
  advance_until([&] { return gated().started == 1; });
  advance(30s);
  EXPECT_TRUE(gated().stop_reasons.empty());
  EXPECT_EQ(store.end_of(id), nullptr);
  advance(31s);
  EXPECT_EQ(gated().stop_reasons.size(), 1U);
}

TEST_F(SlotsTest, TheGraceOfOneDoesNotDelayTheTimeoutOfAnother) {
  store.run_timeout = 10s;
  const auto stuck = store.add("stubborn");
  store.run_timeout = 11s;
  const auto obedient = store.add("gated");
  start();
  advance(10'500ms);  // The first was told to stop, and has two seconds.
  EXPECT_TRUE(store.ended.empty());
  advance(600ms);
  EXPECT_NE(store.end_of(obedient), nullptr);
  EXPECT_EQ(store.end_of(stuck), nullptr);
  advance(1s);
  EXPECT_NE(store.end_of(stuck), nullptr);
  EXPECT_EQ(runtime().status().running, 1U);  // Its handler is still there.
}

// ---- many short ones ----

TEST_F(SlotsTest, AFloodOfInlineJobsDelaysNoBeat) {
  options.lease = 3s;
  options.beat_interval = 1s;
  options.prefetch = 2000;
  options.prefetch_age_max = 1h;
  Clock::Steady last = clock.now();
  Clock::Duration longest{0};
  int beats = 0;
  add_inline([&](const auto&) {
    clock.advance(1ms);  // All of it work: nothing else runs meanwhile.
    if (store.calls["beat_worker"] == beats) return;
    beats = store.calls["beat_worker"];
    longest = std::max(longest, clock.now() - last);
    last = clock.now();
  });
  store.add_many(10'000, "inline");
  start();
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 10'000U);
  EXPECT_GE(beats, 8);
  EXPECT_LE(longest, 1'200ms);
  EXPECT_EQ(store.workers.size(), 1U);
}

TEST_F(SlotsTest, WhatElseIsReadyGetsItsTurnAmongInlineJobs) {
  options.prefetch = 2000;
  int ran = 0;
  int seen = 0;
  int most = 0;
  int looks = 0;
  add_inline([&](const auto&) { ++ran; });
  store.add_many(20'000, "inline");
  std::function<void()> look = [&] {
    most = std::max(most, ran - std::exchange(seen, ran));
    if (ran < 20'000 && ++looks < 1'000'000) boost::asio::post(io, look);
  };
  boost::asio::post(io, look);
  start();
  EXPECT_EQ(ran, 20'000);
  EXPECT_GT(most, 10);
  EXPECT_LE(most, 200);
}

TEST_F(SlotsTest, ClaimsBeginWithTheSlotsAndGrow) {
  options.slots = 4;
  options.prefetch = 1000;
  store.add_many(20'000, "noop");
  start();
  EXPECT_EQ(store.ended.size(), 20'000U);
  ASSERT_GE(store.claims.size(), 3U);
  EXPECT_EQ(store.claims[0].limit, 4);
  EXPECT_LE(store.claims[1].limit, 4 + 512);
  int largest = 0;
  for (const auto& claim : store.claims) largest = std::max(largest, claim.limit);
  EXPECT_GT(largest, 500);
  EXPECT_LE(largest, 1004);
  EXPECT_LE(store.claims.size(), 80U);
}

TEST_F(SlotsTest, AJobThatWaitsForSomethingDoesNotHoldUpTheOthers) {
  options.slots = 2;
  options.prefetch = 100;
  store.add("gated");
  store.add_many(500, "noop");
  start();
  advance(1s);
  EXPECT_EQ(gated().started, 1);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 500U);
}

// ---- objects that serve again ----

TEST_F(SlotsTest, AContextThatIsKeptStaysWithItsJob) {
  std::shared_ptr<JobContext> kept;
  CancelToken token;
  add_inline([&](std::shared_ptr<JobContext> context) {
    token = context->token();
    if (!kept) kept = std::move(context);
  });
  const auto first = store.add("inline");
  const auto second = store.add("inline");
  start();
  ASSERT_EQ(store.ended.size(), 2U);
  const auto running = store.add("gated");
  store.add_many(50, "noop");
  advance(1s);
  ASSERT_EQ(gated().started, 1);
  store.cancel_requests = {
      {.id = running, .token = store.leases.at(running).job.token, .reason = "enough"}};
  advance(3s);
  ASSERT_EQ(store.end_of(running)->outcome.kind, Kind::cancelled);
  EXPECT_EQ(kept->job().id, first);
  EXPECT_FALSE(kept->cancelled());
  EXPECT_FALSE(token.cancelled());  // Of the second, whatever came after it.
  EXPECT_EQ(store.end_of(second)->outcome.kind, Kind::ok);
}

TEST_F(SlotsTest, WhatOneJobSaidIsNotSaidByTheNext) {
  int calls = 0;
  add_inline([&](std::shared_ptr<JobContext> context) {
    if (calls++ > 0) return;
    context->log(LogLevel::info, "only me");
    context->add_event("made", 1);
  });
  const auto first = store.add("inline");
  start();
  for (int i = 0; i < 20; ++i) store.add("inline");
  advance(2s);
  ASSERT_EQ(store.ended.size(), 21U);
  EXPECT_EQ(store.end_of(first)->logs.size() + store.logs.size(), 1U);
  for (const auto& end : store.ended) {
    if (end.id == first) continue;
    EXPECT_TRUE(end.logs.empty());
    EXPECT_EQ(end.outcome.effects_json, "");
  }
}

}  // namespace
}  // namespace millrace::worker::test
