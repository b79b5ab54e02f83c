// The runtime as a whole, on the fake store: running, stopping, settling.
#include "worker/runtime.h"

#include "worker/runtime_fixture.h"

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

TEST_F(RuntimeTest, RunsWhatIsReadyAndRecordsTheResult) {
  const auto id = store.add("gated");
  start();
  ASSERT_EQ(gated().started, 1);
  EXPECT_TRUE(store.ended.empty());
  gated().open.set();
  settle();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.result_json, "\"done\"");
  EXPECT_EQ(runtime().status().running, 0U);
}

TEST_F(RuntimeTest, NeverAsksForTypesItHasNoHandlerFor) {
  store.add("unknown_type");
  start();
  advance(5s);
  EXPECT_TRUE(store.leases.empty());
  ASSERT_FALSE(store.claims.empty());
  EXPECT_EQ(store.claims.front().job_types,
            (std::vector<std::string>{"gated", "noop", "stubborn"}));
}

TEST_F(RuntimeTest, HoldsNoMoreJobsThanSlotsAndPrefetch) {
  options.slots = 3;
  options.prefetch = 2;
  store.add_many(20, "gated");
  start();
  EXPECT_EQ(gated().started, 3);
  EXPECT_EQ(store.leases.size(), 3U);  // No prefetch before a job was seen to be short.
  gated().open.set();
  settle();
  EXPECT_EQ(store.ended.size(), 20U);
  gated().open.reset();
  store.add_many(20, "gated");
  advance(2s);
  EXPECT_EQ(store.leases.size(), 5U);
}

TEST_F(RuntimeTest, GathersWhatFinishesWhileACallIsUnderWay) {
  options.slots = 100;
  Event gate;
  store.gates["settle"] = gate;
  store.add("noop");
  start();
  ASSERT_EQ(store.settle_sizes, std::vector<std::size_t>{1});  // At once: nothing to wait for.
  store.add_many(99, "noop");
  advance(2s);
  gate.set();
  store.gates.clear();
  settle();
  EXPECT_EQ(store.ended.size(), 100U);
  EXPECT_EQ(store.settle_sizes, (std::vector<std::size_t>{1, 99}));
}

TEST_F(RuntimeTest, RepeatsASettlementWhoseAnswerWasLostUntilItIsKnown) {
  store.trouble["settle"] = {.calls = 3, .error = {}, .lost_answer = true};
  const auto id = store.add("noop");
  start();
  EXPECT_EQ(runtime().status().unsettled, 1U);
  advance(30s);
  EXPECT_EQ(store.calls["settle"], 4);
  EXPECT_EQ(store.ended.size(), 1U);  // Once, although sent four times.
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::ok);
  EXPECT_EQ(runtime().status().settled, 1U);
  EXPECT_EQ(runtime().status().fenced, 0U);
}

TEST_F(RuntimeTest, AnOutcomeThatCannotBeStoredFailsItsOwnJobOnly) {
  options.slots = 8;
  store.add_many(7, "noop");
  const auto bad = store.add("noop");
  store.refuse.insert(bad);
  start();
  advance(1s);
  ASSERT_EQ(store.ended.size(), 8U);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 7U);
  ASSERT_EQ(store.end_of(bad)->outcome.kind, Kind::permanent);
  EXPECT_TRUE(store.end_of(bad)->outcome.error_json.contains("outcome_refused"));
}

TEST_F(RuntimeTest, AnInstallationThatIsBrokenForAWhileFailsNoJob) {
  store.trouble["settle"] = {.calls = 5,
                             .error = {.kind = ErrorKind::invalid_argument,
                                       .message = "permission denied for function settle_jobs",
                                       .sqlstate = "42501"}};
  store.add_many(3, "noop");
  start();
  advance(60s);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 3U);
  EXPECT_EQ(store.ended.size(), 3U);
}

TEST_F(RuntimeTest, AResultOverTheLimitFailsForGood) {
  gated().outcome = Outcome::ok("\"" + std::string(300 * 1024, 'x') + "\"");
  gated().open.set();
  const auto id = store.add("gated");
  start();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::permanent);
  EXPECT_TRUE(store.end_of(id)->outcome.error_json.contains("result_too_large"));
}

TEST_F(RuntimeTest, AJobThatRunsTooLongIsStoppedAndRetried) {
  store.run_timeout = 10s;
  const auto id = store.add("gated");
  start();
  advance(9900ms);
  EXPECT_TRUE(store.ended.empty());
  advance(200ms);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::retry);
  EXPECT_TRUE(store.end_of(id)->outcome.error_json.contains("\"timeout\""));
  ASSERT_EQ(gated().stop_reasons.size(), 1U);
  EXPECT_TRUE(gated().stop_reasons[0].contains("10000 ms"));
}

// Waiting for its turn at what all jobs share: the job has done nothing wrong.
TEST_F(RuntimeTest, TimeThatAJobWaitsForItsTurnIsNotItsOwn) {
  store.run_timeout = 10s;
  JobContext* job = nullptr;
  gated().on_start = [&](JobContext& context) {
    job = &context;
    context.begin_wait();
    context.begin_wait();  // For two things at once: no second counts twice.
  };
  const auto id = store.add("gated");
  start();
  ASSERT_NE(job, nullptr);
  const auto deadline = job->deadline();
  advance(60s);
  EXPECT_TRUE(store.ended.empty());
  EXPECT_GE(job->deadline(), deadline + 60s);
  job->end_wait();
  job->end_wait();
  advance(9800ms);
  EXPECT_TRUE(store.ended.empty());
  advance(400ms);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::retry);
  EXPECT_TRUE(store.end_of(id)->outcome.error_json.contains("\"timeout\""));
}

TEST_F(RuntimeTest, AHandlersOwnTimeoutCountsWhereItIsShorter) {
  ASSERT_TRUE(
      handlers.add("brief", std::make_unique<GatedHandler>(), {.timeout = 10s}).has_value());
  store.run_timeout = 60s;
  const auto id = store.add("brief");
  start();
  advance(9900ms);
  EXPECT_TRUE(store.ended.empty());
  advance(200ms);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::retry);
}

TEST_F(RuntimeTest, AHandlerThatIgnoresItsTokenKeepsTheSlotButNotTheJob) {
  options.slots = 1;
  store.run_timeout = 10s;
  const auto id = store.add("stubborn");
  start();
  advance(12'500ms);  // The timeout and the grace.
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::retry);
  EXPECT_TRUE(logged("handler_ignores_stop"));
  store.add("noop");
  advance(10s);
  EXPECT_EQ(store.ended.size(), 1U);  // The slot is still taken.
  stubborn().open.set();
  advance(2s);
  EXPECT_TRUE(logged("late_result_discarded"));
  EXPECT_EQ(store.ended.size(), 2U);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 1U);  // The noop; the late result is nowhere.
}

TEST_F(RuntimeTest, ACancelRequestStopsTheHandlerAndEndsTheJobAsCancelled) {
  const auto id = store.add("gated");
  start();
  store.cancel_requests = {
      {.id = id, .token = store.leases.at(id).job.token, .reason = "user changed their mind"}};
  advance(3s);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::cancelled);
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"user changed their mind"});
}

TEST_F(RuntimeTest, ACancelRequestForAnotherDeliveryIsIgnored) {
  const auto id = store.add("gated");
  start();
  store.cancel_requests = {{.id = id, .token = LeaseToken{}, .reason = "old"}};
  advance(5s);
  EXPECT_TRUE(store.ended.empty());
}

TEST_F(RuntimeTest, ProgressIsStoredAtMostOnceASecondAndOnlyOnChange) {
  JobContext* context = nullptr;
  gated().on_start = [&](JobContext& given) { context = &given; };
  store.add("gated");
  start();
  context->progress(1, "first");
  settle();
  advance(100ms);
  ASSERT_EQ(store.progress.size(), 1U);
  for (int i = 2; i <= 50; ++i) context->progress(i, "more");
  advance(900ms);
  EXPECT_EQ(store.progress.size(), 1U);
  advance(100ms);
  ASSERT_EQ(store.progress.size(), 2U);
  EXPECT_EQ(store.progress[1].percent, 50);
  context->progress(50, "more");  // Nothing new.
  advance(5s);
  EXPECT_EQ(store.progress.size(), 2U);
}

// X-04
TEST_F(RuntimeTest, StepsAreStoredSoonEachOfThemAndInTheirOrder) {
  JobContext* context = nullptr;
  gated().on_start = [&](JobContext& given) { context = &given; };
  store.add("gated");
  start();
  const auto stored = [&] {
    std::vector<int> percents;
    for (const auto& item : store.progress) percents.push_back(item.percent.value_or(-1));
    return percents;
  };
  context->step(0, "begun");
  context->step(25, "filled");
  settle();
  EXPECT_EQ(stored(), std::vector<int>()) << "not more often than anybody looks";
  advance(100ms);
  EXPECT_EQ(stored(), (std::vector<int>{0, 25}));
  EXPECT_EQ(store.calls["report_progress"], 1) << "in one call";
  context->progress(60, "page 3");
  advance(200ms);
  EXPECT_EQ(store.progress.size(), 2U) << "what is no step waits for its second";
  context->step(75, "stored");
  settle();
  advance(100ms);
  EXPECT_EQ(stored(), (std::vector<int>{0, 25, 75})) << "and goes with the next one";
}

TEST_F(RuntimeTest, TheEndOfAJobComesBehindItsLastSteps) {
  Event gate;
  gated().on_start = [](JobContext& context) { context.step(0, "begun"); };
  const auto id = store.add("gated");
  start();
  advance(100ms);
  ASSERT_EQ(store.progress.size(), 1U);
  store.gates["report_progress"] = gate;
  JobContext* context = nullptr;
  gated().on_start = [&](JobContext& given) {
    context = &given;
    given.step(75, "storing");
    given.step(90, "stored");
  };
  gated().open.set();
  const auto other = store.add("gated");
  advance_until([&] { return context != nullptr && store.end_of(id) != nullptr; });
  EXPECT_EQ(store.end_of(other), nullptr) << "its steps are on the way";
  gate.set();
  settle();
  ASSERT_NE(store.end_of(other), nullptr);
  ASSERT_EQ(store.progress.size(), 3U);
  EXPECT_EQ(store.progress[1].percent, 75);
  EXPECT_EQ(store.progress[2].percent, 90);
}

TEST_F(RuntimeTest, LastStepsGoWithTheStatementsOfTheSettlement) {
  gated().on_start = [](JobContext& context) { context.step(0, "begun"); };
  gated().open.set();
  store.add("gated");
  start();
  advance(100ms);
  ASSERT_EQ(store.progress.size(), 1U);
  store.gates["report_progress"] = Event();  // Nothing goes that way any more.
  gated().on_start = [](JobContext& context) {
    context.step(75, "storing");
    context.step(90, "stored");
    context.in_settlement({{.sql = "select 1", .params = {}}});
  };
  const auto id = store.add("gated");
  advance_until([&] { return store.end_of(id) != nullptr; });
  ASSERT_EQ(store.progress.size(), 3U);
  EXPECT_EQ(store.progress[1].percent, 75);
  EXPECT_EQ(store.progress[2].percent, 90);
}

TEST_F(RuntimeTest, LogLinesAreCappedAndTheLastOnesGoWithTheSettlement) {
  options.log_cap = {.lines_max = 3, .bytes_max = 1000, .line_bytes_max = 100};
  gated().on_start = [](JobContext& context) {
    for (int i = 0; i < 10; ++i) context.log(LogLevel::info, "line " + std::to_string(i));
  };
  gated().open.set();
  const auto id = store.add("gated");
  start();
  ASSERT_NE(store.end_of(id), nullptr);
  const auto& logs = store.end_of(id)->logs;
  ASSERT_EQ(logs.size() + store.logs.size(), 4U);
  EXPECT_TRUE(logs.back().message.contains("7 more log lines dropped"));
}

TEST_F(RuntimeTest, SettlementWaitsForLinesThatAreOnTheWay) {
  Event gate;
  store.gates["append_logs"] = gate;
  gated().on_start = [](JobContext& context) { context.log(LogLevel::warn, "careful"); };
  const auto id = store.add("gated");
  start();
  advance(100ms);
  ASSERT_EQ(store.calls["append_logs"], 1);
  gated().open.set();
  settle();
  EXPECT_EQ(store.end_of(id), nullptr);
  gate.set();
  settle();
  EXPECT_NE(store.end_of(id), nullptr);
  ASSERT_EQ(store.logs.size(), 1U);
  EXPECT_EQ(store.logs[0].line.message, "careful");
}

TEST_F(RuntimeTest, EffectsGoWithSuccessOnly) {
  gated().on_start = [](JobContext& context) {
    context.add_effect_job({{"job_type", "next"}, {"payload", json::Object{}}});
    context.add_event("made", {{"n", 1}});
  };
  gated().open.set();
  const auto good = store.add("gated");
  start();
  ASSERT_NE(store.end_of(good), nullptr);
  EXPECT_EQ(
      store.end_of(good)->outcome.effects_json,
      R"({"jobs":[{"job_type":"next","payload":{}}],"events":[{"kind":"made","data":{"n":1}}]})");
  gated().outcome = Outcome::retry("x", "y");
  const auto bad = store.add("gated");
  advance(2s);
  ASSERT_NE(store.end_of(bad), nullptr);
  EXPECT_EQ(store.end_of(bad)->outcome.effects_json, "");
}

TEST_F(RuntimeTest, StatementsSettleTheirJobAloneAndOnce) {
  gated().on_start = [](JobContext& context) {
    context.in_settlement({{.sql = "insert into t values ($1)", .params = {"1"}}});
  };
  gated().open.set();
  store.trouble["settle_with"] = {.calls = 1, .error = {}, .lost_answer = true};
  const auto id = store.add("gated");
  start();
  advance(5s);
  ASSERT_EQ(store.ended.size(), 1U);
  EXPECT_EQ(store.end_of(id)->statements.size(), 1U);
  EXPECT_EQ(store.calls["settle_with"], 2);
  EXPECT_EQ(store.calls["settle"], 0);
}

TEST_F(RuntimeTest, AStatementThatFailsMakesTheAttemptARetry) {
  gated().on_start = [](JobContext& context) {
    context.in_settlement({{.sql = "insert into missing values (1)", .params = {}}});
  };
  gated().open.set();
  store.trouble["settle_with"] = {
      .calls = 1, .error = {.kind = ErrorKind::invalid_argument, .message = "no such table"}};
  const auto id = store.add("gated");
  start();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::retry);
  EXPECT_TRUE(store.end_of(id)->statements.empty());
}

// The sweep of content may win: asked again, the same statement would be refused for ever.
TEST_F(RuntimeTest, AStatementWhoseContentIsGoneIsNotRepeatedAndCostsNoAttempt) {
  gated().on_start = [](JobContext& context) {
    context.in_settlement({{.sql = "select refer_to_content()", .params = {}}});
  };
  gated().open.set();
  store.trouble["settle_with"] = {.calls = 1'000,
                                  .error = {.kind = ErrorKind::unavailable,
                                            .message = "content may have been removed",
                                            .sqlstate = "MR037"}};
  const auto id = store.add("gated");
  start();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::throttled);
  EXPECT_EQ(store.end_of(id)->outcome.retry_after, 60s);
  EXPECT_EQ(store.calls["settle_with"], 1);
}

TEST_F(RuntimeTest, ExtendsTheLeaseOfAJobWhoseOwnLimitComesNear) {
  store.job_lease = 20s;
  store.run_timeout = 120s;
  store.add("gated");
  start();
  advance(5s);
  EXPECT_EQ(store.calls["extend_leases"], 0);
  advance(10s);
  EXPECT_GE(store.calls["extend_leases"], 1);
  const int calls = store.calls["extend_leases"];
  advance(15s);
  EXPECT_LE(store.calls["extend_leases"], calls + 1);
  store.declare_dead(false);  // The keeper gave the job away.
  advance(30s);
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
  EXPECT_TRUE(store.ended.empty());
}

}  // namespace
}  // namespace millrace::worker::test
