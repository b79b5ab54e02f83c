// Provider limits: what is granted and charged, what a release gives back, what operators may set.
#include "sql/limit_world.h"
#include "support/sql_source.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <vector>

namespace millrace::test {
namespace {

class Limits : public LimitWorld {};

TEST_F(Limits, a01_a02_l06_TheSourcesCallsRunWithTheirArgumentNames) {
  EXPECT_TRUE(
      db_.yes("select millrace.acquire_api_capacity(p_provider_name => 'openai',"
              " p_api_endpoint => 'gpt-4o-mini', p_estimated_tokens => 10)"));
  EXPECT_TRUE(db_.yes("select millrace.acquire_api_capacity('openai', 'gpt-4o-mini')"));
  db_.run(
      "select millrace.release_api_capacity(p_provider_name => 'openai',"
      " p_api_endpoint => 'gpt-4o-mini', p_estimated_tokens => 10, p_actual_tokens => 7)");
  EXPECT_EQ(db_.value("select format('%s %s %s', l.active_requests, l.current_requests_minute,"
                      " l.current_tokens_minute) from millrace.api_rate_limits l"
                      " where l.provider_name = 'openai' and l.api_endpoint = 'gpt-4o-mini'"),
            "1 2 1007");
}

TEST_F(Limits, l03_SeedsCarryTheSourcesLimits) {
  EXPECT_EQ(db_.value("select string_agg(format('%s/%s %s %s %s', l.provider_name, l.api_endpoint,"
                      " l.requests_per_minute, coalesce(l.tokens_per_minute::text, 'null'),"
                      " l.concurrent_requests), ', ' order by l.provider_id)"
                      " from millrace.api_rate_limits l where l.provider_name <> 'p'"),
            "openai/gpt-4o-mini 500 200000 50, openai/gpt-4-vision 100 20000 20, "
            "google/vision-api 1800 null 100, anthropic/claude-3 400 100000 25");
}

TEST_F(Limits, l02_l05_OnlyAnActiveProviderGrantsAndTheMessageIsTheSources) {
  for (const auto* status : {"disabled", "maintenance"}) {
    limit(fmt::format(R"({{"status": "{}"}})", status));
    const auto error = db_.refused("select millrace.acquire_api_capacity('p', 'e')");
    EXPECT_EQ(error.sqlstate, "MR013");
    EXPECT_EQ(error.message, "No active rate limit configuration for p:e");
  }
  const auto error = db_.refused("select millrace.acquire_api_capacity('nobody', 'x')");
  EXPECT_EQ(error.sqlstate, "MR013");
  EXPECT_EQ(error.message, "No active rate limit configuration for nobody:x");
}

TEST_F(Limits, l05_RefusalIsCountedAndChargesNothing) {
  limit(R"({"requests_per_minute": 2})");
  EXPECT_EQ(acquire_many(5, 7), 2);
  EXPECT_EQ(row("rate_limit_violations"), "3");
  EXPECT_EQ(row("last_rate_limit_hit = millrace.now()"), "t");
  EXPECT_EQ(used(), "2/14 2/14");
  EXPECT_EQ(row("active_requests"), "2");
}

TEST_F(Limits, e03_l04_EveryLimitBindsAndAllAreTakenOrNone) {
  struct Case {
    const char* limit;
    std::int64_t granted;
  };
  for (const auto& [values, granted] : std::vector<Case>{{R"("requests_per_minute": 3)", 3},
                                                         {R"("requests_per_hour": 4)", 4},
                                                         {R"("tokens_per_minute": 50)", 5},
                                                         {R"("tokens_per_hour": 69)", 6},
                                                         {R"("concurrent_requests": 7)", 7}}) {
    db_.run("delete from millrace.provider_bucket");
    db_.run("delete from millrace.provider_slot");
    limit(R"({"requests_per_minute": null, "requests_per_hour": null, "tokens_per_minute": null,
              "tokens_per_hour": null, "concurrent_requests": null})");
    limit(fmt::format("{{{}}}", values));
    EXPECT_EQ(acquire_many(10, 10), granted) << values;
    EXPECT_EQ(used(), fmt::format("{0}/{1} {0}/{1}", granted, granted * 10)) << values;
    EXPECT_EQ(db_.number("select count(*) from millrace.provider_slot"), granted) << values;
  }
}

TEST_F(Limits, e01_NoDoubleBurstAcrossTheBoundaryOfAMinute) {
  limit(R"({"requests_per_minute": 100})");
  advance("59.5 seconds");
  EXPECT_EQ(acquire_many(200), 100);
  for (int second = 0; second < 60; ++second) {
    advance("1 second");
    ASSERT_FALSE(acquire()) << second << " s later";
  }
  advance("1 second");  // The sub-bucket of the burst has left the window altogether.
  EXPECT_EQ(acquire_many(200), 100);
}

TEST_F(Limits, e03_l08_TheHourIsAWindowLikeTheMinute) {
  limit(R"({"requests_per_minute": 10, "requests_per_hour": 25})");
  EXPECT_EQ(acquire_many(20), 10);
  advance("62 seconds");
  EXPECT_EQ(acquire_many(20), 10);
  advance("62 seconds");
  EXPECT_EQ(acquire_many(20), 5);
  advance("55 minutes");
  EXPECT_FALSE(acquire());
  advance("6 minutes");
  EXPECT_EQ(acquire_many(20), 10);
}

TEST_F(Limits, e05_l07_NullMeansUnlimitedAndNotALargeNumber) {
  EXPECT_EQ(db_.number("select count(*) from (select millrace.acquire_api_capacity('google',"
                       " 'vision-api', 1000) as ok, millrace.release_api_capacity('google',"
                       " 'vision-api', 1000) from generate_series(1, 1900) offset 0) a where a.ok"),
            1800);
  EXPECT_EQ(room(), "2147483647 9223372036854775807");
}

TEST_F(Limits, e06_AnEstimateBelowOneCostsOne) {
  limit(R"({"tokens_per_minute": 3})");
  EXPECT_TRUE(acquire(-1000000));
  EXPECT_TRUE(acquire(0));
  EXPECT_EQ(row("current_tokens_minute"), "2");
  EXPECT_TRUE(acquire(1));
  EXPECT_FALSE(acquire(-1000000)) << "no room for one token is no room for less";
  EXPECT_TRUE(db_.refused("select millrace.acquire_api_capacity('p', 'e', null)").sqlstate ==
              "MR014")
      << "null must mean the default of 1000";
}

TEST_F(Limits, e07_ACostOverAWholeWindowIsAnErrorAndNotARefusal) {
  limit(R"({"tokens_per_minute": 500, "tokens_per_hour": 400})");
  const auto error = db_.refused("select millrace.acquire_api_capacity('p', 'e', 401)");
  EXPECT_EQ(error.sqlstate, "MR014");
  EXPECT_EQ(error.message,
            "p_estimated_tokens 401 is more than p:e grants in a whole window (400)");
  EXPECT_EQ(row("rate_limit_violations"), "0");
  EXPECT_TRUE(acquire(400));
}

TEST_F(Limits, e08_l09_SettlingMovesTheChargeBothWaysInTheBucketsCharged) {
  limit(R"({"tokens_per_minute": 1000})");
  EXPECT_TRUE(acquire(600));
  advance("10 seconds");
  EXPECT_TRUE(acquire(300));
  release(600, 100);
  EXPECT_EQ(used(), "2/400 2/400");
  release(300, 550);
  EXPECT_EQ(used(), "2/650 2/650");
  EXPECT_EQ(db_.value("select string_agg(b.tokens::text, ',' order by b.bucket)"
                      " from millrace.provider_bucket b where b.time_window = 'minute'"),
            "100,550");
  EXPECT_EQ(row("current_tokens_minute"), "650");
  EXPECT_EQ(row("active_requests"), "0");
}

TEST_F(Limits, e08_ALateReleaseDoesNotTouchAnotherWindow) {
  limit(R"({"tokens_per_minute": 1000, "slot_lease": "1 hour"})");
  EXPECT_TRUE(acquire(900));
  advance("2 minutes");
  EXPECT_TRUE(acquire(700));
  release(900, 10);
  EXPECT_EQ(used(), "1/700 2/710") << "the minute is another one, the hour is the same";
  EXPECT_FALSE(acquire(301));
}

TEST_F(Limits, e08_l12_AFailedCallKeepsItsChargeAndGivesItsSlotBack) {
  limit(R"({"concurrent_requests": 1})");
  EXPECT_TRUE(acquire(80));
  EXPECT_FALSE(acquire(80));
  release(80);
  EXPECT_EQ(used(), "1/80 1/80");
  EXPECT_TRUE(acquire(80));
}

TEST_F(Limits, l09_ReleasingMoreThanWasTakenStopsAtZero) {
  EXPECT_TRUE(acquire(50));
  release(50, -5000);
  release(50, 0);
  release(50, 0);
  EXPECT_EQ(used(), "1/0 1/0");
  EXPECT_EQ(row("active_requests"), "0");
}

TEST_F(Limits, l09_ReleaseTakesTheOldestSlotOfTheEstimateElseTheOldest) {
  for (const int tokens : {10, 20, 20, 30}) {
    EXPECT_TRUE(acquire(tokens));
    advance("1 second");
  }
  const auto held = [&] {
    return db_.value(
        "select string_agg(s.estimated_tokens::text || '@' || extract(second from"
        " s.acquired_at)::integer, ' ' order by s.slot_id) from millrace.provider_slot s");
  };
  release(20);
  EXPECT_EQ(held(), "10@0 20@2 30@3");
  release(99);
  EXPECT_EQ(held(), "20@2 30@3");
}

TEST_F(Limits, l10_ReleaseWorksWhateverTheStatusIs) {
  EXPECT_TRUE(acquire(50));
  limit(R"({"status": "disabled"})");
  release(50, 20);
  EXPECT_EQ(row("active_requests"), "0");
  EXPECT_EQ(used(), "1/20 1/20");
}

TEST_F(Limits, l10_ReleaseWithoutAProviderWarnsInTheSourcesWords) {
  auto options = pg::connect_options(database_.url());
  std::vector<std::string> said;
  options.on_notice = [&](std::string_view severity, std::string_view message) {
    said.push_back(fmt::format("{}: {}", severity, message));
  };
  auto connection = must(pg::SyncConnection::connect(options));
  must(connection.query("select millrace.release_api_capacity('nobody', 'x')"));
  EXPECT_EQ(said, std::vector<std::string>{
                      "WARNING: No active rate limit config found for release: nobody:x"});
}

TEST_F(Limits, e04_l11_AnAnonymousSlotEndsWithItsLease) {
  limit(R"({"concurrent_requests": 2, "slot_lease": "300s"})");
  EXPECT_EQ(acquire_many(3), 2);
  advance("299 seconds");
  EXPECT_FALSE(acquire());
  advance("1 second");
  EXPECT_EQ(overview("active_slots"), "0");
  EXPECT_EQ(acquire_many(3), 2);
  advance("301 seconds");
  EXPECT_EQ(db_.number("select millrace.expire_slots(1)"), 1);
  EXPECT_EQ(db_.number("select millrace.expire_slots(100)"), 1);
  EXPECT_EQ(db_.number("select count(*) from millrace.provider_slot"), 0);
  EXPECT_EQ(row("active_requests"), "0");
}

TEST_F(Limits, c13_e04_l11_AJobsSlotLivesExactlyAsLongAsItsLease) {
  limit(R"({"concurrent_requests": 2, "slot_lease": "1s"})");
  const auto first = start_job();
  const auto second = start_job();
  advance("1 hour");  // No time of its own: the lease decides.
  EXPECT_FALSE(acquire());
  db_.run("delete from millrace.lease where job_id = $1::uuid", pg::params(first));
  EXPECT_TRUE(acquire()) << "a slot of a dead lease was counted";
  EXPECT_FALSE(acquire());
  db_.run("update millrace.lease set token = gen_random_uuid()");
  EXPECT_EQ(overview("active_slots"), "1") << "a slot of an old token was counted";
  EXPECT_TRUE(acquire());
}

TEST_F(Limits, e04_ASlotTakenBeforeItsLeaseIsWrittenSurvivesInItsTransaction) {
  limit(R"({"concurrent_requests": 5})");
  bind_type();
  db_.run("begin");
  db_.run(
      "select millrace.capacity_take(l.provider_id, array[gen_random_uuid()],"
      " array[gen_random_uuid()], 'w', array[1::bigint], 'infinity')"
      " from millrace.api_rate_limits l where l.provider_name = 'p'");
  EXPECT_EQ(room().substr(0, 2), "4 ");
  db_.run("commit");
  EXPECT_EQ(room().substr(0, 2), "5 ") << "committed without a lease: dead";
}

TEST_F(Limits, e04_ReleaseNeverTakesTheSlotOfAJob) {
  start_job(10);
  release(10, 1);
  EXPECT_EQ(db_.number("select count(*) from millrace.provider_slot"), 1);
  EXPECT_EQ(used(), "1/10 1/10");
}

TEST_F(Limits, e08_SettlingAJobMovesItsTokensOnceAndEndsItsSlot) {
  limit(R"({"tokens_per_minute": 1000})");
  const auto job = start_job(400);
  EXPECT_EQ(used(), "1/400 1/400");
  settle(job, "ok", "150");
  EXPECT_EQ(used(), "1/150 1/150");
  EXPECT_EQ(row("active_requests"), "0");
  settle(start_job(400), "retry");
  EXPECT_EQ(used(), "2/550 2/550") << "a call that was sent and failed keeps its charge";
}

TEST_F(Limits, l04_AGrantRolledBackNeverWas) {
  limit(R"({"requests_per_minute": 1})");
  db_.run("begin");
  EXPECT_TRUE(acquire());
  db_.run("rollback");
  EXPECT_TRUE(acquire());
}

TEST_F(Limits, l04_TwoClientsCannotBothTakeTheLastRequest) {
  limit(R"({"requests_per_minute": 1})");
  Session other(database_);
  Session watcher(database_);
  const auto pid = other.connection().backend_pid();
  db_.run("begin");
  EXPECT_TRUE(acquire());
  auto second = std::async(std::launch::async, [&] {
    return other.yes("select millrace.acquire_api_capacity('p', 'e', 1)");
  });
  while (second.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         !watcher.yes("select cardinality(pg_blocking_pids($1::integer)) > 0", pg::params(pid))) {
  }
  db_.run("commit");
  EXPECT_FALSE(second.get()) << "it must wait for the first and then see its grant";
  EXPECT_EQ(used(), "1/1 1/1");
}

TEST_F(Limits, l04_AnOldSnapshotFailsInsteadOfGrantingTwice) {
  limit(R"({"requests_per_minute": 1})");
  Session other(database_);
  other.run("begin isolation level repeatable read");
  other.run("select count(*) from millrace.provider_bucket");
  EXPECT_TRUE(acquire());
  EXPECT_EQ(other.refused("select millrace.acquire_api_capacity('p', 'e', 1)").sqlstate, "40001");
}

TEST_F(Limits, e01_AClockThatIsSetBackGrantsNothingTwice) {
  limit(R"({"requests_per_minute": 10})");
  EXPECT_EQ(acquire_many(10), 10);
  advance("-30 minutes");
  EXPECT_FALSE(acquire());
  limit(R"({"requests_per_minute": 11})");
  EXPECT_TRUE(acquire());
  EXPECT_EQ(row("last_grant_at = '2026-05-01 12:00Z'"), "t") << "a grant was dated before the last";
  advance("30 minutes 61 seconds");
  EXPECT_EQ(acquire_many(20), 11);
}

TEST_F(Limits, e01_SixtySubBucketsAreNeverShorterThanTheWindow) {
  limit(R"({"requests_per_minute": 1, "minute_window": "1s"})");
  // The last microsecond of a sub-bucket of 16666 microseconds, a sixtieth of a second cut off.
  db_.run(
      "update millrace.test_clock set frozen_at = to_timestamp(0)"
      " + interval '1 microsecond' * (16666::bigint * 106800000000 - 1)");
  EXPECT_TRUE(acquire());
  advance("999999 microseconds");
  EXPECT_FALSE(acquire());
  advance("20 milliseconds");
  EXPECT_TRUE(acquire());
}

TEST_F(Limits, e01_ChangingAWindowsLengthForgetsNoGrant) {
  limit(R"({"requests_per_minute": 10})");
  EXPECT_EQ(acquire_many(10, 5), 10);
  for (const auto* length : {"10s", "7s", "90s", "60s"}) {
    limit(fmt::format(R"({{"minute_window": "{}"}})", length));
    EXPECT_FALSE(acquire()) << length;
  }
  release(5, 2);
  EXPECT_EQ(overview("used_tokens_minute"), "47");
  advance("64 seconds");
  EXPECT_EQ(acquire_many(20), 10);
}

TEST_F(Limits, l01_DisplayColumnsFollowTheWindowsAndOldBucketsGo) {
  limit(R"({"requests_per_minute": 100})");
  EXPECT_EQ(acquire_many(5, 3), 5);
  EXPECT_EQ(row("current_requests_minute"), "5");
  EXPECT_EQ(row("current_requests_hour"), "5");
  EXPECT_EQ(row("current_tokens_hour"), "15");
  EXPECT_EQ(row("minute_reset_at = millrace.now() - interval '1 minute'"), "t");
  advance("61 seconds");
  EXPECT_TRUE(acquire(1));
  EXPECT_EQ(row("current_requests_minute"), "1");
  EXPECT_EQ(row("current_requests_hour"), "6");
  advance("10 days");
  db_.run("select millrace.expire_slots(100)");
  EXPECT_EQ(row("current_requests_hour"), "0");
  EXPECT_EQ(db_.number("select count(*) from millrace.provider_bucket"), 0);
}

TEST_F(Limits, RoomSaysWhenTimeAloneBringsMore) {
  const auto retry_in = [&] {
    return db_.value(
        "select extract(epoch from r.retry_at - millrace.now())::numeric(9, 1)"
        " from millrace.api_rate_limits l, millrace.capacity_room(l.provider_id) r"
        " where l.provider_name = 'p'");
  };
  limit(R"({"requests_per_minute": 2})");
  EXPECT_EQ(retry_in(), "(null)");
  EXPECT_EQ(acquire_many(2), 2);
  EXPECT_EQ(retry_in(), "61.0");
  advance("20 seconds");
  EXPECT_EQ(retry_in(), "41.0");
  advance("41 seconds");
  EXPECT_EQ(room().substr(0, 2), "2 ");
  release(1);
  release(1);
  limit(R"({"requests_per_minute": null, "concurrent_requests": 1})");
  EXPECT_TRUE(acquire());
  EXPECT_EQ(retry_in(), "(null)") << "only a release can help";
  limit(R"({"status": "maintenance"})");
  EXPECT_EQ(db_.value("select r.retry_at from millrace.api_rate_limits l,"
                      " millrace.capacity_room(l.provider_id) r where l.provider_name = 'p'"),
            "infinity");
}

TEST_F(Limits, e10_OverridesAndOperatorsValuesSurviveReseeding) {
  db_.run("select millrace.set_limit('openai', 'gpt-4o-mini', '{\"requests_per_minute\": 7}')");
  db_.run(
      "select millrace.override_limit('openai', 'gpt-4o-mini',"
      " '{\"status\": \"disabled\", \"tokens_per_minute\": 5}', 'bill is too high')");
  const auto files = sql_files();
  const auto seed = std::ranges::find(files, "migrations/0007_seed.sql", &sql::SqlFile::path);
  ASSERT_NE(seed, files.end());
  db_.script(std::string(seed->text));
  EXPECT_EQ(db_.value("select format('%s %s %s %s', l.status, l.effective_requests_per_minute,"
                      " l.effective_tokens_per_minute, l.override_reason)"
                      " from millrace.limits_overview() l where l.api_endpoint = 'gpt-4o-mini'"),
            "disabled 7 5 bill is too high");
  EXPECT_EQ(db_.refused("select millrace.acquire_api_capacity('openai', 'gpt-4o-mini')").sqlstate,
            "MR013");
}

TEST_F(Limits, e05_e10_AnOverrideWinsFieldByFieldUntilItExpires) {
  limit(R"({"requests_per_minute": 1, "tokens_per_minute": 100})");
  override_limit(R"({"requests_per_minute": -1})", "10 minutes");
  EXPECT_EQ(overview("overridden"), "t");
  EXPECT_EQ(overview("effective_requests_per_minute"), "(null)");
  EXPECT_EQ(acquire_many(5), 5);
  EXPECT_EQ(overview("effective_tokens_per_minute"), "100");
  override_limit(R"({"concurrent_requests": 9})", "10 minutes");
  EXPECT_EQ(overview("effective_requests_per_minute"), "(null)") << "earlier fields stay";
  advance("10 minutes");
  EXPECT_EQ(overview("overridden"), "f");
  EXPECT_EQ(acquire_many(5), 1);
  override_limit(R"({"tokens_per_hour": 50})");
  EXPECT_EQ(overview("effective_requests_per_minute"), "1") << "an expired override came back";
  override_limit(R"({"tokens_per_hour": null})");
  EXPECT_EQ(overview("overridden"), "f");
  EXPECT_EQ(db_.value("select millrace.clear_override('p', 'e')"), "f");
  override_limit(R"({"status": "disabled"})");
  EXPECT_EQ(db_.value("select millrace.clear_override('p', 'e')"), "t");
  EXPECT_EQ(overview("status"), "active");
}

TEST_F(Limits, ChangesAreAudited) {
  override_limit(R"({"status": "disabled"})");
  db_.run("select millrace.clear_override('p', 'e')");
  EXPECT_EQ(
      db_.value("select string_agg(a.operation || ' ' || a.table_name, ', ' order by a.audit_id)"
                " from millrace.audit a where a.record_id = 'p:e'"),
      "INSERT api_rate_limits, INSERT api_rate_limit_override, DELETE api_rate_limit_override");
}

TEST_F(Limits, MR017_ABadValueIsNamedWithItsRule) {
  struct Case {
    const char* values;
    const char* message;
  };
  const std::vector<Case> cases{
      {R"({"requests_per_minut": 5})", "requests_per_minut is not a field of a limit"},
      {R"({"requests_per_minute": 5.5})",
       "requests_per_minute must be a whole number from -1 to 2147483647 (-1: unlimited)"},
      {R"({"tokens_per_hour": "many"})",
       "tokens_per_hour must be a whole number from -1 to 9000000000000000"},
      {R"({"requests_per_hour": 1e40})",
       "requests_per_hour must be a whole number from -1 to 2147483647 (-1: unlimited)"},
      {R"({"concurrent_requests": -2})",
       "concurrent_requests must be a whole number from -1 to 1000000 (-1: unlimited)"},
      {R"({"status": "off"})", "status must be active, disabled or maintenance"},
      {R"({"status": null})", "status must not be null"},
      {R"({"slot_lease": "soon"})",
       "slot_lease must be a duration from 1 to 86400 seconds, such as 30 or \"30s\""},
      {R"({"minute_window": 0})",
       "minute_window must be a duration from 1 to 86400 seconds, such as 30 or \"30s\""},
      {R"({"minute_window": "2h"})", "hour_window must not be shorter than minute_window"},
      {R"({"backpressure_threshold": 1.5})", "backpressure_threshold must be a number from 0 to 1"},
      {R"({"breaker_threshold": 0})", "breaker_threshold must be a whole number from 1 to 1000000"},
      {R"({})", "p_values must be a JSON object with at least one field"},
      {R"([1])", "p_values must be a JSON object with at least one field"},
  };
  for (const auto& [values, message] : cases) {
    const auto error =
        db_.refused("select millrace.set_limit('p', 'e', $1::jsonb)", pg::params(values));
    EXPECT_EQ(error.sqlstate, "MR017") << values;
    EXPECT_EQ(error.message, message);
  }
  EXPECT_EQ(
      db_.refused("select millrace.override_limit('p', 'e', '{\"slot_lease\": 5}', 'x')").message,
      "slot_lease is not a field of a limit override");
  EXPECT_EQ(db_.refused("select millrace.override_limit('p', 'e', '{\"status\": \"active\"}', ' ')")
                .message,
            "p_reason is required");
  EXPECT_EQ(
      db_.refused("select millrace.override_limit('p', 'e', '{\"status\": \"active\"}', 'x', '0')")
          .message,
      "p_ttl must be positive");
  EXPECT_EQ(db_.refused("select millrace.override_limit('q', 'e', '{\"status\": \"active\"}', 'x')")
                .sqlstate,
            "MR013");
  EXPECT_EQ(db_.refused("select millrace.set_limit('', 'e', '{\"status\": \"active\"}')").message,
            "p_provider_name must have 1 to 100 characters without space, colon and slash");
}

TEST_F(Limits, DurationsAreReadInTheFormsPeopleWrite) {
  for (const auto& [text, seconds] :
       std::vector<std::pair<const char*, const char*>>{{"30", "30.000000"},
                                                        {"\"1500ms\"", "1.500000"},
                                                        {"\"5m\"", "300.000000"},
                                                        {"\"2 hours\"", "7200.000000"},
                                                        {"\"1.5s\"", "1.500000"},
                                                        {"\"1d\"", "86400.000000"}}) {
    limit(fmt::format(R"({{"slot_lease": {}}})", text));
    EXPECT_EQ(db_.value("select extract(epoch from l.slot_lease) from millrace.api_rate_limits l"
                        " where l.provider_name = 'p'"),
              seconds)
        << text;
  }
}

TEST_F(Limits, l14_BackpressureDelaysAboveTheThresholdOfTheMinute) {
  const auto delay = [&] {
    return db_.value(
        "select millrace.backpressure_delay(l.provider_id)"
        " from millrace.api_rate_limits l where l.provider_name = 'p'");
  };
  EXPECT_EQ(delay(), "00:00:00") << "no limit, no pressure";
  limit(
      R"({"requests_per_minute": 10, "backpressure_threshold": 0.8, "backpressure_delay_seconds": 5})");
  EXPECT_EQ(acquire_many(8), 8);
  EXPECT_EQ(delay(), "00:00:00") << "at the threshold is not over it";
  EXPECT_TRUE(acquire());
  EXPECT_EQ(delay(), "00:00:05");
  advance("2 minutes");
  EXPECT_EQ(delay(), "00:00:00") << "no acquire is needed to let it fall (E11)";
  limit(R"({"requests_per_minute": null, "tokens_per_minute": 100})");
  EXPECT_TRUE(acquire(81));
  EXPECT_EQ(delay(), "00:00:05");
  limit(R"({"tokens_per_minute": 0})");
  EXPECT_EQ(delay(), "00:00:05") << "nothing can be granted";
  EXPECT_EQ(db_.value("select millrace.backpressure_delay(null)"), "00:00:00");
}

TEST_F(Limits, e11_l16_TheBacklogOfAProviderIsBounded) {
  bind_type();
  limit(R"({"queue_depth_limit": 3})");
  const auto exceeded = [&](int adding) {
    return db_.yes(
        "select millrace.provider_depth_exceeded(l.provider_id, $1::integer)"
        " from millrace.api_rate_limits l where l.provider_name = 'p'",
        pg::params(adding));
  };
  db_.run(
      "select millrace.enqueue_jobs('[{\"job_type\": \"bound\", \"payload\": {\"a\": 1}},"
      " {\"job_type\": \"bound\", \"payload\": {\"a\": 2}, \"delay_seconds\": 60, \"queue\": "
      "\"system\"}]')");
  EXPECT_EQ(overview("waiting_jobs"), "2");
  EXPECT_FALSE(exceeded(1));
  EXPECT_TRUE(exceeded(2));
  EXPECT_EQ(db_.refused("select millrace.enqueue_array('bound',"
                        " array['{\"a\": 1}', '{\"a\": 1}']::jsonb[])")
                .sqlstate,
            "MR008");
  db_.run("select millrace.enqueue_job('bound', '{\"a\": 3}')");
  EXPECT_TRUE(exceeded(1));
  limit(R"({"queue_depth_limit": null})");
  EXPECT_FALSE(exceeded(1000000));
  limit(R"({"queue_depth_limit": 0})");
  EXPECT_TRUE(exceeded(1));
}

TEST_F(Limits, l04_l09_s08_ServiceRoleMayTakeCapacityAndClientsMayNot) {
  Session service(database_, "service_role");
  EXPECT_TRUE(service.yes("select millrace.acquire_api_capacity('p', 'e', 5)"));
  service.run("select millrace.release_api_capacity('p', 'e', 5, 2)");
  EXPECT_EQ(used(), "1/2 1/2");
  for (const auto* role : {"anon", "authenticated"}) {
    Session client(database_, role);
    EXPECT_EQ(client.refused("select millrace.acquire_api_capacity('p', 'e', 5)").sqlstate,
              "42501");
    EXPECT_EQ(client.refused("select millrace.release_api_capacity('p', 'e', 5)").sqlstate,
              "42501");
  }
}

TEST_F(Limits, TheRolesOfTheEngineCanDoTheirPart) {
  Session api(database_, "millrace_api");
  api.run("select millrace.set_limit('p', 'e', '{\"requests_per_minute\": 3}')");
  api.run("select millrace.override_limit('p', 'e', '{\"requests_per_minute\": 4}', 'test')");
  EXPECT_EQ(api.value("select l.effective_requests_per_minute from millrace.limits_overview() l"
                      " where l.provider_name = 'p'"),
            "4");
  EXPECT_TRUE(api.yes("select millrace.clear_override('p', 'e')"));
  api.run("select millrace.reset_breaker('p', 'e')");
  Session keeper(database_, "millrace_keeper");
  EXPECT_TRUE(acquire());
  advance("1 hour");
  EXPECT_EQ(keeper.number("select millrace.expire_slots(10)"), 1);
  EXPECT_EQ(
      keeper.refused("select millrace.set_limit('p', 'e', '{\"status\": \"active\"}')").sqlstate,
      "42501");
}

TEST_F(Limits, l15_AJobTypeIsBoundToItsProvider) {
  EXPECT_EQ(
      db_.value("select l.provider_name from millrace.job_type t join millrace.api_rate_limits l"
                " on l.provider_id = millrace.provider_of(t.type_id) where t.job_type = "
                "'fast_queue_ocr'"),
      "google");
  EXPECT_EQ(db_.value("select millrace.provider_of(t.type_id) from millrace.job_type t"
                      " where t.job_type = 'noop'"),
            "(null)");
}

}  // namespace
}  // namespace millrace::test
