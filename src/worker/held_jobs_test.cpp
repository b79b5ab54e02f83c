// Jobs that a worker holds: their own leases, what is prefetched, what it is told about them, and
// what it reports.
#include "worker/runtime_fixture.h"

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

class HeldJobsTest : public RuntimeTest {
 protected:
  // One job runs, `waiting` more are prefetched: after a short one prefetch is on.
  void start_with_prefetch(int waiting) {
    options.slots = 1;
    options.prefetch = waiting;
    options.prefetch_age_max = 1h;
    store.add("noop");
    start();
    store.add_many(1 + waiting, "gated");
    advance(2s);
    ASSERT_EQ(gated().started, 1);
    ASSERT_EQ(runtime().status().waiting, static_cast<std::size_t>(waiting));
  }
};

TEST_F(HeldJobsTest, AJobsOwnLeaseIsMeasuredFromBeforeItsClaimWasSent) {
  store.job_lease = 30s;
  store.run_timeout = 600s;
  Event late;
  store.gates["claim_jobs answer"] = late;
  store.add("gated");
  start();
  advance(15s);
  late.set();
  advance(4s);
  EXPECT_EQ(store.calls["extend_leases"], 0);
  advance(3s);  // 22 of its 30 seconds are over.
  EXPECT_EQ(store.calls["extend_leases"], 1);
}

TEST_F(HeldJobsTest, AnExtensionIsMeasuredFromBeforeItWasSent) {
  store.job_lease = 30s;
  store.run_timeout = 600s;
  store.add("gated");
  start();
  Event late;
  store.gates["extend_leases"] = late;
  advance(21s);
  ASSERT_EQ(store.calls["extend_leases"], 1);
  advance(15s);
  store.gates.erase("extend_leases");
  late.set();
  advance(7s);  // Sent after 20 s, so it is due again after 40 s, and not after 56 s.
  EXPECT_GE(store.calls["extend_leases"], 2);
}

TEST_F(HeldJobsTest, AnOldDeliveryThatStillSettlesDoesNotStopTheNewOneOfItsJob) {
  store.job_lease = 30s;
  store.run_timeout = 600s;
  const auto id = store.add("gated");
  start();
  store.trouble["settle"] = {.calls = 1000};
  gated().open.set();
  advance(1s);
  gated().open.reset();
  store.ready["default"].push_back(store.leases.at(id).job);  // Its deadline passed there.
  store.leases.erase(id);
  advance(5s);
  ASSERT_EQ(gated().started, 2);
  advance(60s);  // Both are asked about, and one of them is told that it is lost.
  EXPECT_GE(store.calls["extend_leases"], 2);
  store.trouble.clear();
  gated().open.set();
  advance(10s);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::ok);
}

TEST_F(HeldJobsTest, ACancelRequestIsSeenWhenTheLeaseIsExtended) {
  store.job_lease = 20s;
  store.run_timeout = 600s;
  const auto id = store.add("gated");
  store.cancel_on_extend.insert(id);
  start();
  advance(20s);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::cancelled);
}

TEST_F(HeldJobsTest, ACancelRequestIsSeenWhenProgressIsReported) {
  options.lease = 60s;
  options.beat_interval = 20s;
  JobContext* context = nullptr;
  gated().on_start = [&](JobContext& given) { context = &given; };
  const auto id = store.add("gated");
  start();
  store.cancel_requests = {{.id = id, .token = store.leases.at(id).job.token}};
  context->progress(1, "half way");
  settle();
  advance(100ms);
  EXPECT_EQ(store.calls["beat_worker"], 0);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::cancelled);
}

TEST_F(HeldJobsTest, PrefetchNeverExceedsItsNumber) {
  options.slots = 4;
  options.prefetch = 2;
  options.prefetch_age_max = 1h;
  options.beat_interval = 200ms;
  store.add("noop");
  start();
  store.add_many(16, "gated");
  advance(1s);
  ASSERT_EQ(gated().started, 4);
  ASSERT_EQ(runtime().status().waiting, 2U);
  const auto running = store.leases.begin();  // It ends, and there is room for another one.
  store.cancel_requests = {{.id = running->first, .token = running->second.job.token}};
  for (int i = 0; i < 100; ++i) {
    advance(50ms);
    EXPECT_LE(store.leases.size(), 6U);
  }
  EXPECT_EQ(gated().started, 5);
}

TEST_F(HeldJobsTest, PrefetchedJobsOfALostProcessAreNotRun) {
  start_with_prefetch(2);
  const auto first = store.workers.front();
  store.declare_dead();
  store.ready.clear();  // Another process has them.
  advance(3s);
  gated().open.set();
  advance(5s);
  EXPECT_EQ(gated().started, 1);
  EXPECT_EQ(runtime().status().fenced, 3U);
}

TEST_F(HeldJobsTest, APrefetchedJobThatWasGivenAwayIsNotRun) {
  store.job_lease = 20s;
  store.run_timeout = 600s;
  start_with_prefetch(1);
  std::erase_if(store.leases, [&](const auto& lease) {  // The one that waits.
    return lease.second.job.token != store.leases.begin()->second.job.token;
  });
  advance(20s);  // Both leases are to be extended by now.
  EXPECT_EQ(runtime().status().waiting, 0U);
  gated().open.set();
  advance(5s);
  EXPECT_EQ(gated().started, 1);
}

// ---- what goes with the settlement ----

TEST_F(HeldJobsTest, StatementsGoWithSuccessOnly) {
  gated().on_start = [](JobContext& context) {
    context.in_settlement({{.sql = "insert into t values (1)", .params = {}}});
  };
  gated().outcome = Outcome::retry("x", "y");
  gated().open.set();
  const auto id = store.add("gated");
  start();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_TRUE(store.end_of(id)->statements.empty());
  EXPECT_EQ(store.calls["settle_with"], 0);
}

TEST_F(HeldJobsTest, LogLinesThatWereNotStoredGoWithTheSettlement) {
  store.trouble["append_logs"] = {.calls = 1};
  gated().on_start = [](JobContext& context) { context.log(LogLevel::warn, "careful"); };
  const auto id = store.add("gated");
  start();
  advance(100ms);
  ASSERT_EQ(store.calls["append_logs"], 1);
  gated().open.set();
  settle();
  ASSERT_NE(store.end_of(id), nullptr);
  ASSERT_EQ(store.end_of(id)->logs.size(), 1U);
  EXPECT_EQ(store.end_of(id)->logs[0].message, "careful");
}

TEST_F(HeldJobsTest, LogLinesWhoseFateIsUnknownAreNotSentTwice) {
  store.trouble["append_logs"] = {.calls = 1,
                                  .error = {.kind = ErrorKind::in_doubt, .message = "cut"}};
  gated().on_start = [](JobContext& context) { context.log(LogLevel::warn, "careful"); };
  const auto id = store.add("gated");
  start();
  advance(100ms);
  ASSERT_EQ(store.calls["append_logs"], 1);
  gated().open.set();
  settle();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_TRUE(store.end_of(id)->logs.empty());
}

}  // namespace
}  // namespace millrace::worker::test
