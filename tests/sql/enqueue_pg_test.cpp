// Enqueueing: what is refused and how, the caller's transaction, ids, dedupe and idempotency keys,
// wake-ups.
#include "sql/engine.h"

#include <set>

namespace millrace::test {
namespace {

using Enqueue = EngineTest;

constexpr const char* kId = "01900000-0000-7000-8000-000000000001";

std::string one(const std::string& more) {
  return fmt::format(R"({{"job_type": "noop", "payload": {{"n": 1}}{}{}}})",
                     more.empty() ? "" : ", ", more);
}

// --- Bad input ---

TEST_F(Enqueue, bad_input_is_refused_by_field_and_rule_and_leaves_nothing) {
  struct Bad {
    std::string job;
    std::string code;
    std::string says;
  };
  const std::string large(262'145, 'x');
  const std::vector<Bad> all = {
      {R"({"payload": {"n": 1}})", "MR002", "job_type"},
      {R"({"job_type": "unheard_of", "payload": {"n": 1}})", "MR002",
       "Invalid job_type. Allowed: "},
      {R"({"job_type": "noop"})", "MR003", "job_payload cannot be empty"},
      {R"({"job_type": "noop", "payload": {}})", "MR003", "job_payload cannot be empty"},
      {R"({"job_type": "noop", "payload": null})", "MR003", "job_payload cannot be empty"},
      {R"({"job_type": "noop", "payload": [1]})", "MR003", "object"},
      {R"({"job_type": "fast_queue_ocr", "payload": {"n": 1}})", "MR003",
       "fast_queue jobs require shell_file_id in payload"},
      {R"({"job_type": "noop", "payload": {"estimated_tokens": "many"}})", "MR003",
       "estimated_tokens"},
      {R"({"job_type": "noop", "payload": {"t": ")" + large + R"("}})", "MR004", "262144"},
      {one(R"("priority": -1)"), "MR005", "priority"},
      {one(R"("priority": 1001)"), "MR005", "priority"},
      {one(R"("priority": 1.5)"), "MR005", "priority"},
      {one(R"("priority": 1e99)"), "MR005", "priority"},
      {one(R"("delay_seconds": -1)"), "MR006", "delay_seconds"},
      {one(R"("delay_seconds": 1e30)"), "MR006", "delay_seconds"},
      {one(R"("delay_seconds": 1, "scheduled_at": "2030-01-01T00:00:00Z")"), "MR006",
       "scheduled_at"},
      {one(R"("scheduled_at": "tomorrow")"), "MR006", "scheduled_at"},
      {one(R"("scheduled_at": "2030-01-01T00:00:00")"), "MR006", "zone"},
      {one(R"("scheduled_at": "2030-13-01T00:00:00Z")"), "MR006", "scheduled_at"},
      {one(R"("scheduled_at": "2999-01-01T00:00:00Z")"), "MR006", "10 years"},
      {one(R"("start_within_seconds": 0)"), "MR006", "start_within_seconds"},
      {one(R"("start_within_seconds": 1e30)"), "MR006", "start_within_seconds"},
      {one(R"("start_within_seconds": 5, "delay_seconds": 10)"), "MR006", "start_deadline"},
      {one(R"("queue": "nowhere")"), "MR007", "'nowhere'"},
      {one(R"("batch_id": "01900000-0000-7000-8000-00000000dead")"), "MR018", "batch_id"},
      {one(R"("after": {})"), "MR019", "after.jobs"},
      {one(R"("after": {"jobs": ["x"]})"), "MR019", "after.jobs"},
      {one(R"("after": {"jobs": ["01900000-0000-7000-8000-00000000dead"]})"), "MR019", "dead"},
      {one(R"("id": ")" + std::string(kId) + R"(", "after": {"jobs": [")" + kId + R"("]})"),
       "MR019", "itself"},
      {one(R"("max_attempts": 0)"), "MR024", "max_attempts"},
      {one(R"("max_attempts": 1.5)"), "MR024", "max_attempts"},
      {one(R"("run_timeout_seconds": 0)"), "MR024", "run_timeout"},
      {one(R"("run_timeout_seconds": 1e9)"), "MR024", "run_timeout"},
      {one(R"("dedupe_key": "")"), "MR024", "dedupe_key"},
      {one(R"("dedupe_key": ")" + std::string(1025, 'k') + "\""), "MR024", "1024"},
      {one(R"("dedupe_key": "k", "dedupe_keep_seconds": -1)"), "MR024", "dedupe_keep_seconds"},
      {one(R"("serial_key": "a", "concurrency_key": "b")"), "MR024", "exclude"},
      {one(R"("id": "7")"), "MR024", "id must be a uuid"},
      {one(R"("prioritaet": 5)"), "MR024", "unknown field prioritaet"},
      {one(R"("priority": "high")"), "MR024", "priority must be a number"},
      {"7", "MR024", "array"},
      {"[7]", "MR024", "object"},
  };
  for (const auto& bad : all) {
    const auto error =
        sql.refused("select * from millrace.enqueue_jobs($1::jsonb)", pg::params(bad.job));
    EXPECT_EQ(error.sqlstate, bad.code) << bad.job.substr(0, 200) << ": " << error.message;
    EXPECT_NE(error.message.find(bad.says), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << "one line";
    EXPECT_LT(error.message.size(), 600U) << "errors name values, never payloads";
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit"), 0);
}

TEST_F(Enqueue, numbers_may_be_written_with_a_fraction_of_zero) {
  const auto id = enqueue(sql, R"({"priority": 7.0, "max_attempts": 3.0})");
  EXPECT_EQ(job(sql, id, "priority"), "7");
  EXPECT_EQ(job(sql, id, "max_attempts"), "3");
}

TEST_F(Enqueue, g11_one_bad_job_refuses_its_whole_list_and_is_named) {
  const auto error = sql.refused(
      "select * from millrace.enqueue_jobs($1::jsonb)",
      pg::params("[" + one("") + "," + one(R"("priority": 2000)") + "," + one("") + "]"));
  EXPECT_EQ(error.sqlstate, "MR005");
  EXPECT_NE(error.message.find("job 2"), std::string::npos) << error.message;
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

TEST_F(Enqueue, a_disabled_type_is_as_good_as_unknown) {
  sql.run("select millrace.set_job_type('noop', '{\"enabled\": false}')");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}')").sqlstate, "MR002");
}

// --- The caller's transaction ---

TEST_F(Enqueue, g01_jobs_exist_exactly_when_the_callers_transaction_commits) {
  Session other(database);
  must(sql.connection().begin());
  enqueue(sql);
  enqueue(sql, R"({"delay_seconds": 1})");
  EXPECT_EQ(places(other), "ready 0, delayed 0, leased 0");
  must(sql.connection().rollback());
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  must(sql.connection().begin());
  enqueue(sql);
  must(sql.connection().commit());
  EXPECT_EQ(places(other), "ready 1, delayed 0, leased 0");
}

TEST_F(Enqueue, g04_a_delay_is_a_row_that_rolls_back_with_its_transaction) {
  must(sql.connection().begin());
  enqueue(sql, R"({"delay_seconds": 1})");
  must(sql.connection().rollback());
  const auto kept = enqueue(sql, R"({"delay_seconds": 60})");
  EXPECT_EQ(job(sql, kept, "waits_for"), "scheduled");
  pass(sql, "61 seconds");
  EXPECT_EQ(sql.number("select millrace.promote_due(100)"), 1);
}

TEST_F(Enqueue, c08_due_times_are_instants_whatever_the_session_calls_the_hour) {
  stop_clock(sql);
  sql.run("set timezone = 'Australia/Sydney'");
  const auto id = enqueue(sql, R"({"delay_seconds": 7200})");
  EXPECT_TRUE(sql.yes("select due_at - delayed_at = interval '2 hours' from millrace.delayed"));
  keep(sql);
  EXPECT_EQ(status(sql, id), "pending");
  EXPECT_EQ(places(sql), "ready 0, delayed 1, leased 0");
  enqueue(sql, R"({"scheduled_at": "2030-06-01T12:00:00+02:00"})");
  EXPECT_EQ(
      sql.value("select to_char(max(due_at) at time zone 'UTC', 'HH24:MI') from millrace.delayed"),
      "10:00");
}

TEST_F(Enqueue, array_form_keeps_the_order_given) {
  const auto ids = enqueue_many(sql, 50);
  Worker worker(sql);
  EXPECT_EQ(ids_of(worker.claim(50)), ids);
  EXPECT_EQ(sql.refused("select millrace.enqueue_array('noop', array['{\"n\": 1}'::jsonb], "
                        "'{\"dedupe_key\": \"k\"}')")
                .sqlstate,
            "MR024");
}

TEST_F(Enqueue, copied_rows_become_jobs_of_the_same_transaction_or_none) {
  const std::string copy =
      "copy millrace.job_intake (job_type, payload, priority, delay_seconds) "
      "from stdin";
  EXPECT_EQ(must(sql.connection().copy_in(copy,
                                          "noop\t{\"n\": 1}\t\\N\t\\N\nnoop\t{\"n\": 2}\t9\t\\N\n"
                                          "noop\t{\"n\": 3}\t\\N\t60\n")),
            3);
  EXPECT_EQ(places(sql), "ready 2, delayed 1, leased 0");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_intake"), 0);

  const auto bad =
      sql.connection().copy_in(copy, "noop\t{\"n\": 4}\t\\N\t\\N\nnoop\t{}\t\\N\t\\N\n");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().sqlstate, "MR003");
  const auto negative = sql.connection().copy_in(copy, "noop\t{\"n\": 5}\t\\N\t-1\n");
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().sqlstate, "MR006");
  must(sql.connection().begin());
  must(sql.connection().copy_in(copy, "noop\t{\"n\": 6}\t\\N\t\\N\n"));
  must(sql.connection().rollback());
  EXPECT_EQ(places(sql), "ready 2, delayed 1, leased 0");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Enqueue, the_transaction_of_a_copied_row_is_not_to_be_given) {
  EXPECT_EQ(sql.refused("insert into millrace.job_intake (job_type, payload, xid) values ('noop', "
                        "'{\"n\": 1}', '5')")
                .sqlstate,
            "MR024");
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
}

// What was taken out stays in the table for as long as a snapshot needs it.
TEST_F(Enqueue, copied_rows_are_taken_out_without_reading_what_others_left) {
  const std::string copy = "copy millrace.job_intake (job_type, payload) from stdin";
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += "noop\t{\"n\": 1}\n";
  auto holder = database.connect();
  must(holder.script("begin isolation level repeatable read; select 1"));
  for (int i = 0; i < 5; ++i) must(sql.connection().copy_in(copy, rows));
  const auto looked_at = [&] {
    sql.run("select pg_stat_force_next_flush()");
    sql.run("select 1");
    return sql.number(
        "select heap_blks_hit + heap_blks_read from pg_statio_all_tables where relid = "
        "'millrace.job_intake'::regclass");
  };
  const auto pages = sql.number("select pg_relation_size('millrace.job_intake') / 8192");
  ASSERT_GT(pages, 60);
  const auto before = looked_at();
  must(sql.connection().copy_in(copy, "noop\t{\"n\": 2}\n"));
  EXPECT_LT(looked_at() - before, pages / 2);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_intake"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 10'001);
}

// --- Limits ---

TEST_F(Enqueue, e11_a_full_queue_refuses_its_tenant_and_nobody_else) {
  set_queue(sql, "default", R"({"depth_max": 3})");
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  enqueue_many(sql, 2);
  enqueue(sql, R"({"delay_seconds": 60})");
  const auto error = sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}')");
  EXPECT_EQ(error.sqlstate, "MR008");
  EXPECT_NE(error.hint.find("seconds"), std::string::npos) << "says when to try again";
  as_tenant(sql, "bbbbbbbb-0000-4000-8000-000000000002");
  enqueue(sql);
  as_tenant(sql, "");
  Worker worker(sql);
  for (const auto& delivery : worker.claim(10)) worker.complete(delivery);
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  enqueue_many(sql, 2);
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}')").sqlstate, "MR008");
  sql.run("select millrace.fold_counters()");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}')").sqlstate, "MR008")
      << "also when the counters have been folded";
}

TEST_F(Enqueue, switched_off_enqueue_refuses_every_form) {
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}')").sqlstate, "MR021");
  EXPECT_EQ(
      sql.refused("select millrace.enqueue_array('noop', array['{\"n\": 1}'::jsonb])").sqlstate,
      "MR021");
  EXPECT_EQ(
      sql.refused(
             "insert into millrace.job_intake (job_type, payload) values ('noop', '{\"n\": 1}')")
          .sqlstate,
      "MR021");
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'true')");
  enqueue(sql);
}

// --- Ids ---

TEST_F(Enqueue, f10_an_id_of_the_producers_own_makes_a_repeat_find_the_first) {
  const auto job_json = one(fmt::format(R"("id": "{}")", kId));
  EXPECT_EQ(enqueue_jobs(sql, job_json)[0].answer, "created");
  EXPECT_EQ(enqueue_jobs(sql, job_json)[0].answer, "duplicate");
  const auto twice =
      enqueue_jobs(sql, "[" + one(R"("id": "01900000-0000-7000-8000-000000000002")") + "," +
                            one(R"("id": "01900000-0000-7000-8000-000000000002")") + "]");
  EXPECT_EQ(twice[0].answer, "created");
  EXPECT_EQ(twice[1].answer, "duplicate");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 2);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Enqueue, f05_an_id_of_another_tenant_is_refused_without_telling_about_it) {
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  enqueue(sql, fmt::format(R"({{"id": "{}"}})", kId));
  as_tenant(sql, "bbbbbbbb-0000-4000-8000-000000000002");
  EXPECT_EQ(sql.refused("select * from millrace.enqueue_jobs($1::jsonb)",
                        pg::params(one(fmt::format(R"("id": "{}")", kId))))
                .sqlstate,
            "MR024");
}

TEST_F(Enqueue, f03_producers_of_one_id_at_the_same_moment_make_one_job) {
  std::vector<std::string> answers(6);
  together(6, [&](int i, const std::atomic<bool>&) {
    Session mine(database);
    answers[static_cast<std::size_t>(i)] =
        enqueue_jobs(mine, one(fmt::format(R"("id": "{}")", kId)))[0].answer;
  });
  EXPECT_EQ(std::count(answers.begin(), answers.end(), "created"), 1);
  EXPECT_EQ(std::count(answers.begin(), answers.end(), "duplicate"), 5);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

// --- Dedupe keys ---

TEST_F(Enqueue, f03_one_live_job_per_dedupe_key_under_concurrent_producers) {
  std::vector<std::set<std::string>> seen(6);
  together(6, [&](int i, const std::atomic<bool>&) {
    Session mine(database);
    for (int n = 0; n < 30; ++n) {
      seen[static_cast<std::size_t>(i)].insert(fmt::format(
          "{}{}", n % 10, enqueue(mine, fmt::format(R"({{"dedupe_key": "k{}"}})", n % 10))));
    }
  });
  std::set<std::string> all;
  for (const auto& ids : seen) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), 10U) << "everybody got the same ten jobs";
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 10);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Enqueue, f03_a_dedupe_key_waits_for_the_transaction_that_has_it) {
  Session first(database);
  must(first.connection().begin());
  const auto id = enqueue(first, R"({"dedupe_key": "k"})");
  std::string second;
  std::jthread waiting([&] { second = enqueue(sql, R"({"dedupe_key": "k"})"); });
  Session observer(database);
  while (
      !observer.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' "
                    "and datname = current_database())")) {
  }
  must(first.connection().rollback());
  waiting.join();
  EXPECT_NE(second, id) << "the first one never existed";
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

TEST_F(Enqueue, f03_an_id_waits_for_the_transaction_that_has_it) {
  const std::string spec = R"([{"id": "11111111-1111-4111-8111-111111111111",
                                "job_type": "noop", "payload": {"n": 1}}])";
  Session first(database);
  must(first.connection().begin());
  EXPECT_EQ(enqueue_jobs(first, spec)[0].answer, "created");
  std::string second;
  {
    std::jthread waiting([&] {
      try {
        second = enqueue_jobs(sql, spec)[0].answer;
      } catch (const std::exception& error) {
        second = error.what();
      }
    });
    Session observer(database);
    while (
        !observer.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' "
                      "and datname = current_database())")) {
    }
    must(first.connection().commit());
  }
  EXPECT_EQ(second, "duplicate");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

TEST_F(Enqueue, q20_a_dedupe_key_is_free_again_when_its_job_has_ended) {
  Worker worker(sql);
  const auto first = enqueue(sql, R"({"dedupe_key": "k"})");
  EXPECT_EQ(enqueue(sql, R"({"dedupe_key": "k"})"), first);
  const auto delivery = worker.take();
  EXPECT_EQ(enqueue(sql, R"({"dedupe_key": "k"})"), first) << "running is alive";
  worker.settle(delivery, "retry");
  EXPECT_EQ(enqueue(sql, R"({"dedupe_key": "k"})"), first) << "retrying is alive";
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(first));
  const auto second = enqueue(sql, R"({"dedupe_key": "k"})");
  EXPECT_NE(second, first);
  worker.complete(worker.take());
  EXPECT_NE(enqueue(sql, R"({"dedupe_key": "k"})"), second);
}

TEST_F(Enqueue, a_kept_dedupe_key_outlives_its_job_for_the_time_given) {
  Worker worker(sql);
  const std::string keep_hour = R"({"dedupe_key": "k", "dedupe_keep_seconds": 3600})";
  const auto first = enqueue(sql, keep_hour);
  worker.complete(worker.take());
  EXPECT_EQ(enqueue(sql, keep_hour), first);
  pass(sql, "3601 seconds");
  EXPECT_NE(enqueue(sql, keep_hour), first) << "also before the keeper removes it";
  pass(sql, "3601 seconds");
  EXPECT_EQ(sql.number("select millrace.expire_keys(100)"), 1);
}

TEST_F(Enqueue, f05_dedupe_never_crosses_tenants_or_types) {
  const auto mine = enqueue(sql, R"({"dedupe_key": "k"})");
  EXPECT_NE(enqueue(sql, R"({"dedupe_key": "k"})", "sleep"), mine);
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  EXPECT_NE(enqueue(sql, R"({"dedupe_key": "k"})"), mine);
}

TEST_F(Enqueue, duplicates_inside_one_list_become_one_job) {
  const auto all = enqueue_jobs(sql, "[" + one(R"("dedupe_key": "k")") + "," + one("") + "," +
                                         one(R"("dedupe_key": "k")") + "]");
  EXPECT_EQ(all[0].answer, "created");
  EXPECT_EQ(all[1].answer, "created");
  EXPECT_EQ(all[2].answer, "duplicate");
  EXPECT_EQ(all[2].id, all[0].id);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Enqueue, a_repeat_with_the_id_of_an_ended_job_does_not_take_its_dedupe_key_again) {
  const auto spec = one(fmt::format(R"("id": "{}", "dedupe_key": "k")", kId));
  enqueue_jobs(sql, spec);
  Worker worker(sql);
  worker.complete(worker.take());
  EXPECT_EQ(enqueue_jobs(sql, spec)[0].answer, "duplicate");
  EXPECT_EQ(enqueue_jobs(sql, one(R"("dedupe_key": "k")"))[0].answer, "created");
}

// --- Idempotency keys ---

TEST_F(Enqueue, f02_an_idempotency_key_answers_a_repeat_even_after_the_job_has_ended) {
  const auto spec = one(R"("idempotency_key": "i", "delay_seconds": 0)");
  const auto first = enqueue_jobs(sql, spec)[0];
  Worker worker(sql);
  worker.complete(worker.take());
  const auto again = enqueue_jobs(sql, spec)[0];
  EXPECT_EQ(again.answer, "duplicate");
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(sql.refused("select * from millrace.enqueue_jobs($1::jsonb)",
                        pg::params(one(R"("idempotency_key": "i", "priority": 9)")))
                .sqlstate,
            "MR011");
  pass(sql, "25 hours");
  EXPECT_EQ(sql.number("select millrace.expire_keys(100)"), 1);
  EXPECT_EQ(enqueue_jobs(sql, spec)[0].answer, "created");
}

TEST_F(Enqueue, f02_concurrent_requests_with_one_idempotency_key_make_one_job) {
  std::vector<std::string> ids(6);
  together(6, [&](int i, const std::atomic<bool>&) {
    Session mine(database);
    ids[static_cast<std::size_t>(i)] = enqueue_jobs(mine, one(R"("idempotency_key": "i")"))[0].id;
  });
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 1U);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

TEST_F(Enqueue, f05_idempotency_keys_belong_to_their_tenant) {
  const auto mine = enqueue_jobs(sql, one(R"("idempotency_key": "i")"))[0].id;
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  EXPECT_NE(enqueue_jobs(sql, one(R"("idempotency_key": "i", "priority": 9)"))[0].id, mine);
}

TEST_F(Enqueue, f02_a_key_whose_request_was_a_duplicate_answers_with_the_job_that_exists) {
  const auto existing = enqueue(sql, R"({"dedupe_key": "k"})");
  const auto spec = one(R"("dedupe_key": "k", "idempotency_key": "i")");
  EXPECT_EQ(enqueue_jobs(sql, spec)[0].id, existing);
  EXPECT_EQ(enqueue_jobs(sql, spec)[0].id, existing);
  const auto list =
      enqueue_jobs(sql, "[" + one(R"("dedupe_key": "k", "idempotency_key": "j")") + "," +
                            one(R"("dedupe_key": "k", "idempotency_key": "j")") + "]");
  EXPECT_EQ(list[0].id, existing);
  EXPECT_EQ(list[1].id, existing);
}

TEST_F(Enqueue, f04_requests_that_differ_anywhere_are_different_requests) {
  const std::vector<std::string> specs = {
      R"({"job_type": "noop", "payload": {"a": "solver1", "b": "1.0.0"}, "idempotency_key": "i"})",
      R"({"job_type": "noop", "payload": {"a": "solver", "b": "11.0.0"}, "idempotency_key": "i"})",
      R"({"job_type": "sleep", "payload": {"a": "solver1", "b": "1.0.0"}, "idempotency_key": "i"})",
  };
  EXPECT_EQ(enqueue_jobs(sql, specs[0])[0].answer, "created");
  for (std::size_t i = 1; i < specs.size(); ++i) {
    EXPECT_EQ(sql.refused("select * from millrace.enqueue_jobs($1::jsonb)", pg::params(specs[i]))
                  .sqlstate,
              "MR011");
  }
  // The order of keys and the spaces between them are not part of a request.
  EXPECT_EQ(enqueue_jobs(sql, R"({"payload": {"b": "1.0.0", "a": "solver1"}, "idempotency_key":"i",
                                  "job_type":"noop"})")[0]
                .answer,
            "duplicate");
}

// --- Wake-ups ---

class WakeUp : public EngineTest {
 protected:
  WakeUp() { listener_.run("listen millrace_wake"); }

  bool heard() {
    // What was sent is there when the sender's commit has returned; one round trip fetches it.
    listener_.run("select 1");
    return must(listener_.connection().wait_notification(std::chrono::milliseconds(1))).has_value();
  }

 private:
  Session listener_{database};
};

TEST_F(WakeUp, c14_a_waiting_worker_is_notified_once_and_only_at_commit) {
  enqueue(sql);
  EXPECT_FALSE(heard()) << "nobody waits: no notification";
  Worker worker(sql);
  worker.complete(worker.take());
  EXPECT_EQ(worker.claim(1).size(), 0U);  // Empty-handed: from now on it waits.

  Session producer(database);
  must(producer.connection().begin());
  enqueue(producer);
  EXPECT_FALSE(heard());
  must(producer.connection().commit());
  EXPECT_TRUE(heard());
  enqueue(producer);
  EXPECT_FALSE(heard()) << "one wake-up is enough";
}

TEST_F(WakeUp, c14_work_that_becomes_ready_later_notifies_as_well) {
  Worker worker(sql);
  const auto wait = [&] { EXPECT_EQ(worker.claim(1).size(), 0U); };
  enqueue(sql, R"({"delay_seconds": 60})");
  wait();
  pass(sql, "61 s");
  keep(sql);
  EXPECT_TRUE(heard()) << "its time came";
  const auto delivery = worker.take();
  wait();
  worker.settle(delivery, "handback");
  EXPECT_TRUE(heard()) << "handed back";
  worker.complete(worker.take());

  const auto first = enqueue(sql, R"({"serial_key": "k"})");
  enqueue(sql, R"({"serial_key": "k"})");
  const auto head = worker.take();
  ASSERT_EQ(head.id, first);
  wait();
  worker.complete(head);
  EXPECT_TRUE(heard()) << "its key is free";
}

// Whoever was refused for the queue's limit would else look again only after its polling time.
TEST_F(WakeUp, c13_a_job_that_ends_makes_room_in_its_queue_and_whoever_found_it_full_hears_of_it) {
  set_queue(sql, "default", R"({"concurrency_max": 1})");
  Worker worker(sql);
  const auto is_full = [&] { return worker.claim(1).empty(); };
  enqueue(sql);
  const auto alone = worker.take();
  ASSERT_TRUE(is_full());
  worker.complete(alone);
  EXPECT_FALSE(heard()) << "nothing waits for the room";

  enqueue(sql);
  EXPECT_TRUE(heard());
  for (const char* outcome : {"ok", "permanent", "retry"}) {
    const auto held = worker.take();
    enqueue(sql);
    ASSERT_TRUE(is_full());
    worker.settle(held, outcome);
    EXPECT_TRUE(heard()) << outcome;
  }
}

}  // namespace
}  // namespace millrace::test
