// Policies: queues, job types and configuration are typed rows that an operator changes while the
// engine runs.
#include "sql/engine.h"

namespace millrace::test {
namespace {

using Policy = EngineTest;

TEST_F(Policy, r05_shipped_queues_keep_each_sources_numbers) {
  const auto rows = sql.rows(
      "select queue, max_attempts, extract(epoch from backoff_base)::int, backoff_factor, "
      "extract(epoch from backoff_cap)::int, jitter_low, jitter_high, extract(epoch from "
      "lease)::int, "
      "extract(epoch from beat)::int, extract(epoch from run_timeout)::int, concurrency_max, "
      "key_concurrency_max from millrace.queue order by queue");
  std::vector<std::string> all;
  for (const auto row : rows) {
    std::string line;
    for (std::size_t i = 0; i < rows.columns(); ++i) {
      line += fmt::format("{}{}", i == 0 ? "" : " ", row.opt_text(i).value_or("-"));
    }
    all.push_back(line);
  }
  EXPECT_EQ(all, (std::vector<std::string>{
                     "ai_queue 7 2 2 64 1 1.1 300 30 600 - -",
                     "compute 5 0 1 0 1 1 90 45 240 - -",
                     "default 12 15 2 3600 1 2 30 10 300 - -",
                     "export 5 60 2 3600 0.8 1.2 900 30 60 3 3",
                     "fast_queue 7 2 2 64 1 1.1 300 30 120 - -",
                     "ingest 6 6 2 300 0.9 1.1 300 30 600 - -",
                     "system 12 15 2 3600 1 2 30 10 300 - -",
                 }));
}

TEST_F(Policy, d08_the_default_budget_outlasts_an_outage_of_hours) {
  // 11 waits between 12 attempts; without jitter about 4 hours, at most twice that with it.
  const auto seconds = sql.number(
      "select sum(least(3600, 15 * power(2, n - 1)))::bigint from millrace.queue q, "
      "generate_series(1, q.max_attempts - 1) n where q.queue = 'default'");
  EXPECT_GE(seconds, 3 * 3600);
  const auto drawn = sql.number(
      "select extract(epoch from sum(millrace.backoff_delay(q.queue_id, n)))::bigint from "
      "millrace.queue q, "
      "generate_series(1, q.max_attempts - 1) n where q.queue = 'default'");
  EXPECT_GE(drawn, seconds);
  EXPECT_LE(drawn, 2 * seconds);
}

TEST_F(Policy, d13_timeouts_nest_lease_beyond_beat_and_deadline_beyond_run_time) {
  EXPECT_EQ(sql.number("select count(*) from millrace.queue where beat * 2 > lease"), 0);
  enqueue(sql, R"({"run_timeout_seconds": 100})");
  Worker worker(sql);
  worker.take();
  EXPECT_TRUE(
      sql.yes("select lease_until - leased_at >= interval '110 seconds' from millrace.lease"))
      << "the database gives up later than the worker";
}

TEST_F(Policy, every_bad_field_is_refused_by_name_and_nothing_is_kept) {
  struct Bad {
    std::string policy;
    std::string says;
  };
  const std::vector<Bad> all = {
      {R"({"max_attempts": 0})", "max_attempts"},
      {R"({"max_attempts": "many"})", "max_attempts"},
      {R"({"max_attempts": 99999999999})", "max_attempts"},
      {R"({"backoff_base": "soon"})", "backoff_base"},
      {R"({"backoff_base": -1})", "backoff_base"},
      {R"({"backoff_base": "2 h", "backoff_cap": "1 h"})", "backoff_cap"},
      {R"({"jitter_low": 3, "jitter_high": 2})", "jitter"},
      {R"({"lease": "2 days"})", "lease"},
      {R"({"lease": 10, "beat": 10})", "beat"},
      {R"({"run_timeout": 0})", "run_timeout"},
      {R"({"concurrency_max": -1})", "concurrency_max"},
      {R"({"key_concurrency_max": 0})", "key_concurrency_max"},
      {R"({"depth_max": -1})", "depth_max"},
      {R"({"priority_default": 1001})", "priority_default"},
      {R"({"age_step": 0})", "age_step"},
      {R"({"colour": "red"})", "colour"},
  };
  const auto before =
      sql.value("select to_jsonb(q) - 'updated_at' from millrace.queue q where queue = 'default'");
  for (const auto& bad : all) {
    const auto error =
        sql.refused("select millrace.set_queue('default', $1::jsonb)", pg::params(bad.policy));
    EXPECT_EQ(error.sqlstate, "MR017") << bad.policy << ": " << error.message;
    EXPECT_NE(error.message.find(bad.says), std::string::npos)
        << bad.policy << ": " << error.message;
  }
  EXPECT_EQ(
      sql.value("select to_jsonb(q) - 'updated_at' from millrace.queue q where queue = 'default'"),
      before);
  EXPECT_EQ(sql.refused("select millrace.set_queue('Bad Name')").sqlstate, "MR017");
  EXPECT_EQ(sql.number("select count(*) from millrace.audit"), 0);
}

TEST_F(Policy, a_change_keeps_the_other_fields_and_is_audited) {
  set_queue(sql, "default", R"({"max_attempts": 3})");
  EXPECT_EQ(sql.value("select format('%s %s', max_attempts, backoff_base) from millrace.queue "
                      "where queue = 'default'"),
            "3 00:00:15");
  EXPECT_EQ(
      sql.value(
          "select format('%s %s', old_values ->> 'max_attempts', new_values) from millrace.audit"),
      R"(12 {"max_attempts": 3})");
}

TEST_F(Policy, a_shorter_lease_takes_its_beat_along) {
  set_queue(sql, "default", R"({"lease": "5 s"})");
  EXPECT_TRUE(sql.yes("select beat < lease from millrace.queue where queue = 'default'"));
}

TEST_F(Policy, job_types_are_refused_by_field_and_changed_by_field) {
  struct Bad {
    std::string type;
    std::string policy;
    std::string code;
  };
  for (const auto& bad : std::vector<Bad>{
           {"bad name", "{}", "MR017"},
           {"t", R"({"queue": "nowhere"})", "MR007"},
           {"t", R"({"provider": "nobody:nothing"})", "MR013"},
           {"t", R"({"priority_default": 2000})", "MR017"},
           {"t", R"({"max_attempts": 0})", "MR017"},
           {"t", R"({"run_timeout": "x"})", "MR017"},
           {"t", R"({"enabled": "perhaps"})", "MR017"},
           {"t", R"({"required_keys": "a"})", "MR017"},
           {"t", R"({"colour": 1})", "MR017"},
       }) {
    EXPECT_EQ(
        sql.refused("select millrace.set_job_type($1, $2::jsonb)", pg::params(bad.type, bad.policy))
            .sqlstate,
        bad.code)
        << bad.policy;
  }
  sql.run(
      "select millrace.set_job_type('t', '{\"queue\": \"system\", \"required_keys\": [\"a\"]}')");
  sql.run("select millrace.set_job_type('t', '{\"priority_default\": 77}')");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('t', '{\"b\": 1}')").sqlstate, "MR003");
  const auto id = sql.value("select millrace.enqueue_job('t', '{\"a\": 1}')");
  EXPECT_EQ(job(sql, id, "queue"), "system");
  EXPECT_EQ(job(sql, id, "priority"), "77");
}

TEST_F(Policy, k10_every_field_of_a_type_takes_effect_at_the_next_job) {
  sql.run("select millrace.set_job_type('t', '{\"run_timeout\": 7, \"max_attempts\": 2}')");
  sql.value("select millrace.enqueue_job('t', '{\"a\": 1}')");
  Worker worker(sql);
  const auto rows = sql.rows(
      "select run_timeout_ms, max_attempts from millrace.claim_jobs($1, $2::uuid, 'default', 1)",
      pg::params(worker.id(), worker.process()));
  EXPECT_EQ(rows[0].i64(0), 7000);
  EXPECT_EQ(rows[0].i64(1), 2);
}

TEST_F(Policy, ensure_job_types_registers_what_is_missing_and_changes_nothing) {
  EXPECT_EQ(sql.number("select millrace.ensure_job_types(array['noop', 'new_one'], 'system')"), 1);
  EXPECT_EQ(
      sql.value("select string_agg(q.queue, ',' order by t.job_type) from millrace.job_type t join "
                "millrace.queue q using (queue_id) where t.job_type in ('noop', 'new_one')"),
      "system,default");
  EXPECT_EQ(sql.refused("select millrace.ensure_job_types(array['a b'], 'system')").sqlstate,
            "MR017");
  EXPECT_EQ(sql.refused("select millrace.ensure_job_types(array['x'], 'nowhere')").sqlstate,
            "MR007");
}

TEST_F(Policy, k11_configuration_is_typed_when_it_is_written) {
  const auto refused = [&](const char* key, const char* value) {
    return sql.refused("select millrace.set_config_value($1, $2)", pg::params(key, value)).sqlstate;
  };
  EXPECT_EQ(refused("worker.timeout_seconds", "soon"), "MR020");
  EXPECT_EQ(refused("worker.timeout_seconds", "-5"), "MR020");
  EXPECT_EQ(refused("worker.timeout_seconds", "0"), "MR020");
  EXPECT_EQ(refused("worker.timeout_seconds", "99999999999"), "MR020");
  EXPECT_EQ(refused("partition.days", "0"), "MR020");
  EXPECT_EQ(refused("system.enqueue_enabled", "yes"), "MR020");
  EXPECT_EQ(refused("no.such_key", "1"), "MR020");
  // Also past the function.
  EXPECT_EQ(sql.refused("update millrace.system_configuration set config_value = 'x' where "
                        "config_key = 'retention.event_days'")
                .sqlstate,
            "MR020");
  sql.run("select millrace.set_config_value('worker.timeout_seconds', '60')");
  EXPECT_EQ(sql.number("select millrace.config_integer('worker.timeout_seconds', 1)"), 60);
  EXPECT_EQ(
      sql.value(
          "select format('%s %s', old_values ->> 'config_value', new_values ->> 'config_value') "
          "from millrace.audit"),
      "300 60");
}

TEST_F(Policy, pause_and_resume_are_audited_and_name_an_unknown_queue) {
  sql.run("select millrace.pause_queue('default', 'repair')");
  EXPECT_EQ(sql.value("select paused_reason from millrace.queue where queue = 'default'"),
            "repair");
  sql.run("select millrace.resume_queue('default')");
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where table_name = 'queue'"), 2);
  EXPECT_EQ(sql.refused("select millrace.pause_queue('nowhere')").sqlstate, "MR007");
  EXPECT_EQ(sql.refused("select millrace.resume_queue('nowhere')").sqlstate, "MR007");
  EXPECT_EQ(sql.refused("select millrace.set_tenant_weight(gen_random_uuid(), 0)").sqlstate,
            "MR017");
}

}  // namespace
}  // namespace millrace::test
