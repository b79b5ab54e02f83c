// Numbers for scalers, health checks and metrics: from counters, bounded, never null where one is
// asked for.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Scale : public EngineTest {
 protected:
  std::string load(const std::string& columns, const std::string& queue = "default") {
    return sql.value(fmt::format("select concat_ws(' ', {}) from millrace.queue_load($1)", columns),
                     pg::params(queue));
  }
};

// INTEGRATIONS 5.1: one number that is not null, for a queue that is empty, loaded, or not there.
TEST_F(Scale, d08_the_hint_is_one_number_that_counts_running_jobs_too) {
  EXPECT_EQ(sql.value("select millrace.scale_hint('default')"), "0");
  EXPECT_EQ(sql.value("select millrace.scale_hint('no such queue')"), "0");
  EXPECT_EQ(sql.value("select millrace.scale_hint(null)"), "0");
  enqueue_many(sql, 5);
  enqueue(sql, R"({"delay_seconds": 600})");
  EXPECT_EQ(sql.value("select millrace.scale_hint('default')"), "5");
  Worker worker(sql);
  const auto held = worker.take();
  EXPECT_EQ(sql.value("select millrace.scale_hint('default')"), "5");
  worker.complete(held);
  EXPECT_EQ(sql.value("select millrace.scale_hint('default')"), "4");
  sql.run("select millrace.fold_counters()");
  EXPECT_EQ(sql.value("select millrace.scale_hint('default')"), "4");
  EXPECT_EQ(load("ready, \"delayed\", leased, demand"), "4 1 0 4");
}

// C16: the age of the oldest, in a lane or not.
TEST_F(Scale, c16_the_age_of_the_oldest_ready_job_is_told) {
  stop_clock(sql);
  EXPECT_EQ(load("oldest_age_s"), "0");
  enqueue_many(sql, 2);
  pass(sql, "30 seconds");
  enqueue(sql, R"({"max_attempts": 25, "priority": 0})");
  pass(sql, "12 seconds");
  EXPECT_EQ(load("oldest_age_s"), "42");
  Worker worker(sql);
  worker.claim(2);
  EXPECT_EQ(load("oldest_age_s"), "12");
}

TEST_F(Scale, the_time_to_drain_follows_the_rate_and_is_unknown_without_one) {
  stop_clock(sql);
  enqueue_many(sql, 100);
  EXPECT_EQ(load("coalesce(drain_s::text, 'unknown')"), "unknown");
  sql.run("select millrace.fold_counters()");
  Worker worker(sql);
  for (const auto& delivery : worker.claim(40)) worker.complete(delivery);
  pass(sql, "10 seconds");
  sql.run("select millrace.fold_counters()");
  // 40 in 10 seconds, smoothed by half: 2 a second for 60.
  EXPECT_EQ(load("per_second, drain_s"), "2 30");
  // Not sampled again within five seconds; and a rate that is old says nothing.
  pass(sql, "1 second");
  sql.run("select millrace.fold_counters()");
  EXPECT_EQ(load("per_second"), "2");
  pass(sql, "2 minutes");
  EXPECT_EQ(load("coalesce(drain_s::text, 'unknown')"), "unknown");
  for (const auto& delivery : worker.claim(100)) worker.complete(delivery);
  EXPECT_EQ(load("drain_s"), "0");
}

TEST_F(Scale, all_queues_are_listed_and_a_tenant_sees_its_share) {
  enqueue_many(sql, 2);
  ServerSession mine{database, kTenant};
  mine.run("select millrace.enqueue_job('noop', '{\"n\": 1}')");
  EXPECT_EQ(mine.value("select demand from millrace.queue_load('default')"), "1");
  EXPECT_EQ(mine.value("select millrace.scale_hint('default')"), "1");
  EXPECT_EQ(load("demand"), "3");
  EXPECT_EQ(sql.number("select count(*) from millrace.queue_load()"),
            sql.number("select count(*) from millrace.queue"));
  EXPECT_EQ(sql.value("select count(*) from millrace.queue_load('no such queue')"), "0");
  sql.run("select millrace.pause_queue('default')");
  EXPECT_EQ(load("paused"), "t");
}

// H-18, S-26.
TEST_F(Scale, h18_health_is_told_by_counters) {
  const auto health = [&](const char* field) {
    return sql.value("select millrace.health_counts() ->> $1", pg::params(field));
  };
  EXPECT_EQ(health("queue_depth"), "0");
  EXPECT_EQ(health("keeper"), "false");
  enqueue_many(sql, 3);
  enqueue(sql, R"({"delay_seconds": 600})");
  Worker live(sql, "live");
  Worker silent(sql, "silent", kShortLived);
  sql.run("select millrace.elect('keeper', 'k', '10 s')");
  EXPECT_EQ(health("keeper"), "true");
  EXPECT_EQ(health("queue_depth"), "4");
  EXPECT_EQ(health("workers"), "2");
  pass(sql, "1 minute");
  EXPECT_EQ(health("workers"), "1");
  EXPECT_EQ(health("workers_silent"), "1");
  EXPECT_EQ(health("keeper"), "false");
  EXPECT_NE(health("schema_version"), "(null)");
}

// O-03, O-04, O-11: names and labels are a closed set, whatever tenants and jobs there are.
TEST_F(Scale, o03_labels_of_metrics_are_bounded) {
  const auto series = [&] {
    return sql.value(
        "select count(*) from millrace.metrics_snapshot() where label is distinct from 'state'");
  };
  const auto before = series();
  for (const auto* tenant : {kTenant.data(), kOther.data()}) {
    as_tenant(sql, tenant);
    enqueue_many(sql, 3);
  }
  as_tenant(sql, "");
  Worker worker(sql);
  worker.complete(worker.take());
  const auto counted = sql.number(
      "select count(*) from millrace.metrics_snapshot() where metric = 'jobs_enqueued_total'");
  EXPECT_EQ(counted, 1);
  EXPECT_EQ(
      sql.value(
          "select value from millrace.metrics_snapshot() where metric = 'jobs_enqueued_total' and "
          "label_value = 'default'"),
      "6");
  EXPECT_EQ(sql.value("select value from millrace.metrics_snapshot() where metric = 'queue_demand' "
                      "and label_value = "
                      "'default'"),
            "5");
  EXPECT_EQ(std::stoll(series()), std::stoll(before) + 5);
  EXPECT_EQ(
      sql.value(
          "select string_agg(distinct label, ' ' order by label) from millrace.metrics_snapshot()"),
      "provider queue state table");
  EXPECT_EQ(sql.number("select count(*) from millrace.metrics_snapshot() where value is null"), 0);
}

TEST_F(Scale, a_reader_may_look_and_a_user_may_not) {
  Session reader{database, "millrace_reader"};
  reader.run("select * from millrace.metrics_snapshot()");
  reader.run("select millrace.scale_hint('default')");
  User ada{database, kAda};
  for (const auto* call :
       {"select millrace.scale_hint('default')", "select * from millrace.queue_load()",
        "select millrace.health_counts()", "select * from millrace.metrics_snapshot()"}) {
    EXPECT_EQ(ada.refused(call).sqlstate, "42501") << call;
  }
}

}  // namespace
}  // namespace millrace::test
