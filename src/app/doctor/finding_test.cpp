#include "app/doctor/finding.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using State = Finding::State;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

json::Object healthy_server() {
  return {{"version", "15.6"},        {"version_num", 150006},
          {"database", "d"},          {"user", "u"},
          {"in_recovery", false},     {"fsync", "on"},
          {"full_page_writes", "on"}, {"synchronous_commit", "on"},
          {"autovacuum", "on"},       {"connections", 5},
          {"max_connections", 100}};
}

TEST(DoctorServerTest, NamesWhatIsUnsafe) {
  EXPECT_EQ(judge_server(healthy_server()).state, State::ok);
  const auto with = [](const char* key, json::Value value) {
    auto facts = healthy_server();
    facts[key] = std::move(value);
    return judge_server(facts);
  };
  EXPECT_EQ(with("version_num", 140000).state, State::fail);
  EXPECT_EQ(with("in_recovery", true).state, State::fail);
  EXPECT_EQ(with("fsync", "off").state, State::warn);
  EXPECT_EQ(with("synchronous_commit", "off").state, State::warn);
  EXPECT_EQ(with("autovacuum", "off").state, State::warn);
  EXPECT_EQ(with("connections", 95).state, State::warn);
}

TEST(DoctorSchemaTest, TellsMissingFromChangedFromNewer) {
  EXPECT_EQ(judge_migrations({{1, "a", "applied"}}, 0).state, State::ok);
  const auto pending = judge_migrations({{1, "a", "applied"}, {2, "b", "pending"}}, 0);
  EXPECT_EQ(pending.state, State::fail);
  EXPECT_THAT(pending.explanation, HasSubstr("0002_b"));
  EXPECT_THAT(pending.action, HasSubstr("migrate up"));
  EXPECT_EQ(judge_migrations({{1, "a", "changed"}}, 0).state, State::fail);
  const auto newer = judge_migrations({{1, "a", "applied"}, {9, "z", "unknown"}}, 0);
  EXPECT_EQ(newer.state, State::warn);
  EXPECT_THAT(newer.explanation, HasSubstr("newer than this program"));
  EXPECT_EQ(judge_migrations({{1, "a", "applied"}}, 3).state, State::warn);
}

TEST(DoctorGrantsTest, AMissingRoleIsAWarningAMissingGrantIsNot) {
  const json::Array role{json::Object{{"role_name", "millrace_worker"},
                                      {"function_name", "claim_jobs"},
                                      {"problem", "role does not exist"}}};
  EXPECT_EQ(judge_grants(role).state, State::warn);
  const json::Array grant{json::Object{{"role_name", "millrace_worker"},
                                       {"function_name", "claim_jobs"},
                                       {"problem", "no execute privilege"}}};
  const auto finding = judge_grants(grant);
  EXPECT_EQ(finding.state, State::fail);
  EXPECT_THAT(finding.explanation, HasSubstr("millrace_worker on claim_jobs"));
  EXPECT_EQ(judge_grants({}).state, State::ok);
}

TEST(DoctorVersionsTest, SeesAMixOfVersions) {
  const json::Array same{json::Object{{"version", "0.1.0"}}};
  EXPECT_EQ(judge_versions(same, "0.1.0").state, State::ok);
  const auto mixed = judge_versions(same, "0.2.0");
  EXPECT_EQ(mixed.state, State::warn);
  EXPECT_THAT(mixed.explanation, HasSubstr("0.1.0, 0.2.0"));
}

TEST(DoctorClocksTest, FindsTheWorstClock) {
  EXPECT_EQ(judge_clocks({}, milliseconds(20)).state, State::ok);
  const json::Array workers{json::Object{{"worker_id", "w1"}, {"clock_skew_ms", -5000}}};
  const auto finding = judge_clocks(workers, milliseconds(1500));
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_THAT(finding.explanation, HasSubstr("worker w1 is -5s"));
  EXPECT_EQ(judge_clocks({}, milliseconds(60'000)).state, State::fail);
}

TEST(DoctorStuckTest, CountsWhatDoesNotMove) {
  EXPECT_EQ(judge_stuck({{"expired_leases", 0}, {"overdue", 0}}).state, State::ok);
  const auto finding = judge_stuck({{"expired_leases", 2},
                                    {"overdue", 7},
                                    {"oldest_overdue_seconds", 31},
                                    {"keeper_alive", false}});
  EXPECT_EQ(finding.state, State::fail);
  EXPECT_EQ(finding.explanation,
            "2 jobs past their lease, 7 waiting jobs overdue, the oldest by 31s");
  EXPECT_THAT(finding.action, HasSubstr("millrace up"));
  EXPECT_EQ(judge_keeper({{"keeper_alive", false}}).state, State::fail);
  EXPECT_EQ(judge_keeper({{"keeper_alive", true}, {"keeper_holder", "k"}}).state, State::ok);
}

TEST(DoctorHorizonTest, NamesTheSessionThatHoldsIt) {
  const auto session = [](std::int64_t age) {
    return json::Array{json::Object{{"kind", "session"},
                                    {"pid", 4711},
                                    {"application_name", "report"},
                                    {"state", "idle in transaction"},
                                    {"age_seconds", age},
                                    {"query_start", "2030-01-01T00:00:00+00:00"},
                                    {"query", "select 1"},
                                    {"dead_rows", 98765},
                                    {"dead_table", "claim_open"}}};
  };
  EXPECT_EQ(judge_horizon(session(59)).state, State::ok);
  const auto finding = judge_horizon(session(61));
  EXPECT_EQ(finding.state, State::warn);
  for (const char* part :
       {"4711", "report", "61s", "2030-01-01", "select 1", "98 765", "claim_open"}) {
    EXPECT_THAT(finding.explanation, HasSubstr(part));
  }
  EXPECT_THAT(finding.action, HasSubstr("pg_terminate_backend(4711)"));
  EXPECT_EQ(judge_horizon(session(601)).state, State::fail);
  EXPECT_EQ(judge_horizon({json::Object{{"kind", "replication slot"},
                                        {"application_name", "s"},
                                        {"xmin_age", 2'000'000}}})
                .state,
            State::fail);
}

TEST(DoctorBloatTest, ComparesDeadWithLiveRows) {
  const auto table = [](std::int64_t live, std::int64_t dead) {
    return judge_bloat({json::Object{
        {"table_name", "ready"}, {"live", live}, {"dead", dead}, {"bytes", 1 << 20}}});
  };
  EXPECT_EQ(table(10, 40'000).state, State::ok);
  EXPECT_EQ(table(100'000, 60'000).state, State::ok);
  EXPECT_EQ(table(10, 60'000).state, State::warn);
  EXPECT_EQ(table(10, 2'000'000).state, State::fail);
}

TEST(DoctorHandlersTest, NamesTypesNobodyHandles) {
  const json::Array types{json::Object{{"job_type", "ocr"}, {"queue", "fast"}, {"jobs", 12}}};
  const auto finding = judge_handlers(types, true);
  EXPECT_EQ(finding.state, State::fail);
  EXPECT_EQ(finding.explanation, "no live worker has a handler for: ocr (12 jobs in fast)");
  EXPECT_THAT(judge_handlers(types, false).explanation, HasSubstr("no worker runs"));
  EXPECT_EQ(judge_handlers({}, false).state, State::ok);
}

TEST(DoctorLimitsTest, ALimitMattersOnlyWhenJobsWait) {
  json::Object limit{{"provider_name", "p"},
                     {"api_endpoint", "e"},
                     {"status", "active"},
                     {"breaker_state", "closed"},
                     {"waiting_jobs", 0},
                     {"used_requests_minute", 60},
                     {"effective_requests_per_minute", 60}};
  EXPECT_EQ(judge_limits({limit}).state, State::ok);
  limit["waiting_jobs"] = 3;
  const auto finding = judge_limits({limit});
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_EQ(finding.explanation, "p/e has used up its requests per minute (3 jobs wait)");
  limit["breaker_state"] = "open";
  EXPECT_THAT(judge_limits({limit}).explanation, HasSubstr("breaker open"));
}

TEST(DoctorQueuesTest, NamesPausedAndClosedQueues) {
  json::Object queue{{"queue", "q"}, {"paused_at", nullptr}, {"ready", 4}, {"depth_max", 100}};
  EXPECT_EQ(judge_queues({queue}).state, State::ok);
  queue["paused_at"] = "2030-01-01T00:00:00+00:00";
  queue["paused_by"] = "ann";
  queue["paused_reason"] = "deploy";
  EXPECT_EQ(judge_queues({queue}).explanation, "q is paused by ann: deploy (4 ready)");
  queue["paused_at"] = nullptr;
  queue["concurrency_max"] = 0;
  EXPECT_EQ(judge_queues({queue}).state, State::warn);
}

TEST(DoctorCountersTest, ShowsBothNumbers) {
  const auto finding =
      judge_counters({json::Object{{"queue", "q"}, {"ready", 5}, {"counter_ready", 4}}});
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_THAT(finding.explanation, HasSubstr("q: ready 5 counted 4"));
}

TEST(DoctorExportsTest, NamesTheWallsThatDoNotStandAroundTheBrowser) {
  ExportFacts facts{.browser = "/usr/bin/chromium"};
  EXPECT_EQ(judge_exports(facts).state, State::ok);
  facts.walls_missing = "pid_namespace, own_root";
  facts.walls_reason = "no namespaces: Operation not permitted";
  facts.walls_hint = "allow user namespaces";
  auto finding = judge_exports(facts);
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_THAT(
      finding.explanation,
      HasSubstr("without pid_namespace, own_root (no namespaces: Operation not permitted)"));
  EXPECT_EQ(finding.action, "allow user namespaces");
  facts.walls_required = true;
  EXPECT_THAT(judge_exports(facts).explanation, HasSubstr("no browser is started"));
}

}  // namespace
}  // namespace millrace::app
