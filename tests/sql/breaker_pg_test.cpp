// The circuit breaker of a provider (R-20) and the waits a provider asks for.
#include "sql/limit_world.h"

namespace millrace::test {
namespace {

class Breaker : public LimitWorld {
 protected:
  Breaker() {
    limit(R"({"breaker_threshold": 3, "breaker_cooldown": "30s", "requests_per_minute": 1000})");
  }
  std::string state() { return overview("breaker_state"); }
  bool has_room() { return !room().starts_with("0 "); }
  std::string open_for() {
    return db_.value(
        "select extract(epoch from l.breaker_until - millrace.now())::integer"
        " from millrace.api_rate_limits l where l.provider_name = 'p'");
  }
  void fail(int times) {
    for (int i = 0; i < times; ++i) settle(start_job(), "retry");
  }
};

TEST_F(Breaker, r20_OpensAfterFailuresInARowOnly) {
  fail(2);
  settle(start_job(), "ok");
  fail(2);
  for (const auto* silent : {"permanent", "cancelled", "handback", "lost"}) {
    settle(start_job(), silent);
  }
  EXPECT_EQ(state(), "closed");
  fail(1);
  EXPECT_EQ(state(), "open");
  EXPECT_EQ(row("breaker_reason"), "3 failures in a row");
  EXPECT_EQ(room(), "0 0");
  EXPECT_FALSE(acquire()) << "an anonymous client is stopped as well";
}

TEST_F(Breaker, r20_BlockedOpensAtOnceWithItsReason) {
  settle(start_job(), "blocked", "null", "null", "'insufficient_quota'");
  EXPECT_EQ(state(), "open");
  EXPECT_EQ(row("breaker_reason"), "insufficient_quota");
  EXPECT_EQ(open_for(), "30");
}

TEST_F(Breaker, r20_BlockedUntilALaterTimeStaysOpenUntilThen) {
  settle(start_job(), "blocked", "null", "millrace.now() + interval '2 hours'");
  EXPECT_EQ(open_for(), "7200");
}

TEST_F(Breaker, r20_HalfOpenAdmitsOneProbeAtATimeAndItsSuccessCloses) {
  fail(3);
  advance("29 seconds");
  EXPECT_FALSE(has_room());
  advance("1 second");
  EXPECT_EQ(state(), "half_open");
  EXPECT_TRUE(room().starts_with("1 "));
  const auto probe = start_job();
  EXPECT_FALSE(has_room());
  EXPECT_FALSE(acquire());
  settle(probe, "ok");
  EXPECT_EQ(state(), "closed");
  EXPECT_EQ(row("breaker_failures"), "0");
  EXPECT_EQ(acquire_many(10), 10);
}

TEST_F(Breaker, r20_AProbeThatSaysNothingMakesRoomForTheNext) {
  fail(3);
  advance("30 seconds");
  settle(start_job(), "permanent");
  EXPECT_EQ(state(), "half_open");
  EXPECT_TRUE(room().starts_with("1 "));
}

TEST_F(Breaker, r20_EachReopeningDoublesTheCooldownUpToTenMinutes) {
  fail(3);
  EXPECT_EQ(open_for(), "30");
  for (const auto* seconds : {"60", "120", "240", "480", "600", "600"}) {
    db_.run(
        "update millrace.test_clock c set shift = c.shift + (l.breaker_until - millrace.now())"
        " from millrace.api_rate_limits l where l.provider_name = 'p'");
    fail(1);
    EXPECT_EQ(state(), "open");
    EXPECT_EQ(open_for(), seconds);
  }
  advance("10 minutes");
  settle(start_job(), "ok");
  fail(3);
  EXPECT_EQ(open_for(), "30") << "a success starts over";
}

TEST_F(Breaker, r20_ADeadProbeDoesNotBlockForEver) {
  fail(3);
  advance("30 seconds");
  const auto probe = start_job();
  EXPECT_FALSE(has_room());
  db_.run("delete from millrace.lease where job_id = $1::uuid", pg::params(probe));
  EXPECT_TRUE(room().starts_with("1 "));
  EXPECT_TRUE(acquire());  // An anonymous probe whose client dies.
  EXPECT_FALSE(has_room());
  advance("300 seconds");
  EXPECT_TRUE(room().starts_with("1 "));
}

TEST_F(Breaker, r20_CallsSentBeforeItOpenedDoNotMoveIt) {
  const auto early_good = start_job();
  const auto early_bad = start_job();
  fail(3);
  settle(early_good, "ok");
  EXPECT_EQ(state(), "open");
  advance("30 seconds");
  const auto probe = start_job();
  settle(early_bad, "retry");
  EXPECT_EQ(state(), "half_open") << "only the probe decides";
  EXPECT_FALSE(has_room());
  settle(probe, "ok");
  EXPECT_EQ(state(), "closed");
}

TEST_F(Breaker, r20_AnAnonymousProbeClosesItWhenTokensWereUsed) {
  fail(3);
  advance("30 seconds");
  EXPECT_TRUE(acquire(10));
  release(10);
  EXPECT_EQ(state(), "half_open");
  EXPECT_TRUE(acquire(10));
  release(10, 8);
  EXPECT_EQ(state(), "closed");
}

TEST_F(Breaker, r20_OutcomesOfOneBatchCountInTheirOrder) {
  const auto batch = [&](const char* outcomes) {
    db_.run(
        "select millrace.capacity_settle(array_agg(gen_random_uuid()), "
        "array_agg(gen_random_uuid()),"
        " array_agg(t.type_id), array_agg(o order by i), array_agg(null::bigint),"
        " array_agg(null::timestamptz), array_agg(null::text))"
        " from unnest($1::text[]) with ordinality o(o, i), millrace.job_type t"
        " where t.job_type = 'bound'",
        pg::params(outcomes));
  };
  bind_type();
  batch("{retry,retry,ok,retry,retry}");
  EXPECT_EQ(state(), "closed");
  EXPECT_EQ(row("breaker_failures"), "2");
  batch("{retry,retry,retry,ok}");
  EXPECT_EQ(state(), "open") << "what follows in the batch was sent before it opened";
  EXPECT_EQ(row("breaker_opens"), "1");
}

TEST_F(Breaker, ThrottledMakesEverybodyWaitUntilTheTimeGiven) {
  settle(start_job(), "throttled", "null", "millrace.now() + interval '40 seconds'");
  EXPECT_EQ(state(), "closed");
  EXPECT_EQ(room(), "0 0");
  EXPECT_FALSE(acquire());
  settle(start_job(), "throttled", "null", "millrace.now() + interval '5 seconds'");
  advance("39 seconds");
  EXPECT_FALSE(has_room()) << "a shorter wait does not shorten a longer one";
  advance("1 second");
  EXPECT_TRUE(has_room());
  EXPECT_EQ(overview("throttled_until"), "(null)");
}

TEST_F(Breaker, ThrottledWithoutATimeWaitsTheProvidersDelayAndAnAbsurdOneIsCapped) {
  settle(start_job(), "throttled");
  EXPECT_EQ(row("throttled_until - millrace.now()"), "00:00:05");
  settle(start_job(), "throttled", "null", "'9999-01-01'");
  EXPECT_EQ(row("throttled_until - millrace.now()"), "1 day");
}

TEST_F(Breaker, AnOperatorResetsBreakerAndWait) {
  fail(3);
  settle(start_job(), "throttled", "null", "millrace.now() + interval '1 hour'");
  db_.run("select millrace.reset_breaker('p', 'e')");
  EXPECT_EQ(state(), "closed");
  EXPECT_TRUE(acquire());
  db_.run("select millrace.reset_breaker('p', 'e')");
  EXPECT_EQ(
      db_.number("select count(*) from millrace.audit a where a.reason = 'Circuit breaker reset'"),
      1);
  EXPECT_EQ(db_.refused("select millrace.reset_breaker('p', 'x')").sqlstate, "MR013");
}

TEST_F(Breaker, ChangesOfStateAreEvents) {
  fail(3);
  advance("30 seconds");
  settle(start_job(), "ok");
  EXPECT_EQ(
      db_.value(
          "select string_agg(e.data ->> 'state', ' ' order by e.event_id) from millrace.event e"
          " where e.kind = 'limit.breaker'"),
      "open closed");
}

TEST_F(Breaker, r20_OneProvidersBreakerLeavesOthersAlone) {
  fail(3);
  EXPECT_TRUE(db_.yes("select millrace.acquire_api_capacity('openai', 'gpt-4o-mini', 1)"));
}

}  // namespace
}  // namespace millrace::test
