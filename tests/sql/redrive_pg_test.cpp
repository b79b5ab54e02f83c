// What an operator does to jobs: redrive dead letters, run waiting ones now, give them another
// time, cancel them.
#include "sql/engine.h"

namespace millrace::test {
namespace {

using Redrive = EngineTest;

// A dead letter with the error given.
std::string dead(Session& sql, Worker& worker, const std::string& error = R"({"message": "boom"})",
                 const std::string& options = "{}", const std::string& type = "noop") {
  const auto id = enqueue(sql, options, type);
  worker.settle(worker.take(), "permanent", fmt::format(R"({{"error": {}}})", error));
  return id;
}

std::string answers(const pg::ResultSet& rows) {
  std::string all;
  for (const auto row : rows)
    all += fmt::format("{}{}", all.empty() ? "" : ",", row.text("answer"));
  return all;
}
std::string redrive(Session& sql, const std::string& filter, const std::string& more = "") {
  return answers(sql.rows(fmt::format("select * from millrace.redrive_jobs($1::jsonb{})", more),
                          pg::params(filter)));
}
std::string on(Session& sql, const std::string& call, const std::string& id) {
  return answers(sql.rows(fmt::format("select * from millrace.{}", call), pg::params(id)));
}

// --- Redrive ---

TEST_F(Redrive, d12_redrive_starts_a_new_generation_of_the_same_job) {
  Worker worker(sql);
  const auto id = dead(sql, worker);
  EXPECT_EQ(redrive(sql, fmt::format(R"({{"job_ids": ["{}"]}})", id), ", 10, null, 'repaired'"),
            "redriven");
  EXPECT_EQ(status(sql, id), "pending");
  EXPECT_EQ(job(sql, id, "generation"), "2");
  EXPECT_EQ(job(sql, id, "attempt"), "0");
  keep(sql);
  const auto delivery = worker.take();
  EXPECT_EQ(delivery.id, id);
  EXPECT_EQ(delivery.attempt, 1);
  worker.complete(delivery);
  EXPECT_EQ(status(sql, id), "completed");
  EXPECT_EQ(sql.value("select string_agg(generation || status::text, ',' order by generation) from "
                      "millrace.job_history"),
            "1failed,2completed")
      << "the old outcome stays";
  EXPECT_EQ(sql.value("select reason from millrace.audit where action = 'redriven'"), "repaired");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Redrive, p2_only_the_dead_can_be_redriven_and_only_once) {
  Worker worker(sql);
  const auto done = enqueue(sql);
  worker.complete(worker.take());
  const auto failed = dead(sql, worker);
  const auto filter = fmt::format(
      R"({{"job_ids": ["{}", "{}", "01900000-0000-7000-8000-00000000dead"]}})", done, failed);
  EXPECT_EQ(redrive(sql, filter), "redriven,not_failed,not_found");
  EXPECT_EQ(redrive(sql, filter), "not_failed,not_failed,not_found");
  EXPECT_EQ(status(sql, done), "completed");
  EXPECT_EQ(sql.number("select count(*) from millrace.delayed"), 1);
}

TEST_F(Redrive, redrive_spreads_by_rate_oldest_first) {
  stop_clock(sql);
  Worker worker(sql);
  for (int i = 0; i < 4; ++i) {
    dead(sql, worker);
    pass(sql, "1 second");
  }
  const auto rows = sql.rows(
      "select job_id, extract(epoch from due_at - millrace.now())::integer as due "
      "from millrace.redrive_jobs('{}', 3, 6)");
  ASSERT_EQ(rows.rows(), 3U) << "at most the limit";
  EXPECT_EQ(rows[0].i64("due"), 0);
  EXPECT_EQ(rows[1].i64("due"), 10);
  EXPECT_EQ(rows[2].i64("due"), 20);
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 1U);
  pass(sql, "10 seconds");
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 1U);
}

TEST_F(Redrive, redrive_selects_by_fingerprint_type_queue_and_time) {
  stop_clock(sql);
  Worker worker(sql);
  const auto timeout =
      dead(sql, worker, R"({"error_type": "http", "message": "timeout after 31 ms"})");
  const auto alike =
      dead(sql, worker, R"({"error_type": "http", "message": "timeout after 977 ms"})");
  const auto other =
      dead(sql, worker, R"({"error_type": "http", "message": "refused"})", "{}", "sleep");
  const auto fingerprint = job(sql, timeout, "fingerprint");
  EXPECT_EQ(job(sql, alike, "fingerprint"), fingerprint) << "numbers do not tell failures apart";
  EXPECT_NE(job(sql, other, "fingerprint"), fingerprint);
  EXPECT_EQ(sql.value("select string_agg(jobs::text, ',') from millrace.dead_groups()"), "2,1");

  EXPECT_EQ(redrive(sql, R"({"queue": "export"})"), "");
  EXPECT_EQ(redrive(sql, R"({"failed_before": "2001-01-01T00:00:00Z"})"), "");
  EXPECT_EQ(redrive(sql, R"({"job_type": "sleep"})"), "redriven");
  EXPECT_EQ(redrive(sql, fmt::format(R"({{"fingerprint": "{}"}})", fingerprint)),
            "redriven,redriven");
  EXPECT_EQ(sql.refused("select * from millrace.redrive_jobs('{\"color\": 1}')").sqlstate, "MR024");
  EXPECT_EQ(sql.refused("select * from millrace.redrive_jobs('{}', 0)").sqlstate, "MR024");
  EXPECT_EQ(sql.refused("select * from millrace.redrive_jobs('{\"queue\": \"nowhere\"}')").sqlstate,
            "MR007");
}

// In pages, so that no list of dead letters is too long to be asked for.
TEST_F(Redrive, dead_letters_are_grouped_page_by_page) {
  stop_clock(sql);
  Worker worker(sql);
  const auto* error = R"({"error_type": "http", "message": "timeout"})";
  const auto oldest = dead(sql, worker, error);
  pass(sql, "1 second");  // Ids are in the order of time.
  dead(sql, worker, error);
  pass(sql, "1 second");
  const auto newest = dead(sql, worker, R"({"error_type": "http", "message": "refused"})");
  const auto page = [&](const std::string& arguments) {
    return sql.value(
        fmt::format("select string_agg(concat_ws(' ', g ->> 'queue', g ->> 'jobs', g ->> "
                    "'message'), ', ' order "
                    "by (g ->> 'jobs')::integer desc, g ->> 'message') || coalesce(a ->> 'next', "
                    "'') from (select millrace.dead_group_page({}) as a) p cross join "
                    "lateral jsonb_array_elements(a -> 'groups') g group by a",
                    arguments));
  };
  EXPECT_EQ(page(""), "default 2 timeout, default 1 refused");
  EXPECT_EQ(page("p_limit => 1"), "default 2 timeout");
  EXPECT_EQ(page("p_queue => 'default'"), "default 2 timeout, default 1 refused");
  EXPECT_EQ(page(fmt::format("p_before => '{}'", newest)), "default 2 timeout");
  for (const auto* none : {"p_queue => 'export'", "p_queue => 'nowhere'"}) {
    EXPECT_EQ(sql.value(fmt::format("select millrace.dead_group_page({})", none)),
              R"({"next": null, "groups": []})");
  }
  EXPECT_EQ(sql.value(fmt::format("select millrace.dead_group_page(p_before => '{}')", oldest)),
            R"({"next": null, "groups": []})");
  EXPECT_EQ(redrive(sql, fmt::format(R"({{"job_ids": ["{}"]}})", oldest)), "redriven");
  EXPECT_EQ(page(""), "default 1 refused, default 1 timeout");
  EXPECT_EQ(sql.refused("select millrace.dead_group_page(p_limit => 0)").sqlstate, "MR024");
}

TEST_F(Redrive, a_dedupe_key_taken_meanwhile_keeps_the_job_dead) {
  Worker worker(sql);
  const auto id = dead(sql, worker, "{}", R"({"dedupe_key": "k"})");
  const auto successor = enqueue(sql, R"({"dedupe_key": "k"})");
  EXPECT_EQ(redrive(sql, "{}"), "duplicate");
  EXPECT_EQ(status(sql, id), "failed");
  worker.complete(worker.take());
  EXPECT_EQ(redrive(sql, "{}"), "redriven");
  EXPECT_EQ(enqueue(sql, R"({"dedupe_key": "k"})"), id) << "its key is taken again";
  EXPECT_NE(successor, id);
}

TEST_F(Redrive, concurrent_redrives_start_one_generation) {
  Worker worker(sql);
  for (int i = 0; i < 20; ++i) dead(sql, worker);
  std::vector<std::int64_t> redriven(4);
  together(4, [&](int i, const std::atomic<bool>&) {
    Session mine(database);
    redriven[static_cast<std::size_t>(i)] =
        mine.number("select count(*) from millrace.redrive_jobs('{}') where answer = 'redriven'");
  });
  EXPECT_EQ(redriven[0] + redriven[1] + redriven[2] + redriven[3], 20);
  EXPECT_EQ(sql.number("select count(*) from millrace.delayed where generation = 2"), 20);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Redrive, a_job_that_another_redrive_is_moving_is_answered_busy_when_it_was_named) {
  Worker worker(sql);
  const auto id = dead(sql, worker);
  const auto named = fmt::format(R"({{"job_ids": ["{}"]}})", id);
  Session other(database);
  other.script("begin");
  EXPECT_EQ(redrive(other, "{}"), "redriven");
  EXPECT_EQ(redrive(sql, named), "busy");
  EXPECT_EQ(redrive(sql, "{}"), "") << "not asked for by name";
  other.script("rollback");
  EXPECT_EQ(redrive(sql, named), "redriven");
  EXPECT_EQ(redrive(sql, named), "not_failed");
}

TEST_F(Redrive, i08_the_dead_of_another_tenant_are_not_found) {
  Worker worker(sql);
  const auto id = dead(sql, worker);
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  EXPECT_EQ(redrive(sql, "{}"), "");
  EXPECT_EQ(redrive(sql, fmt::format(R"({{"job_ids": ["{}"]}})", id)), "not_found");
}

// --- Run now, reschedule ---

TEST_F(Redrive, run_now_ends_waits_for_time_and_no_others) {
  Worker worker(sql);
  const auto scheduled = enqueue(sql, R"({"delay_seconds": 3600})");
  const auto retrying = enqueue(sql);
  worker.settle(worker.take(), "retry");
  const auto deferred = enqueue(sql);
  worker.settle(worker.take(), "blocked");
  const auto needed = enqueue(sql, R"({"delay_seconds": 60})");
  const auto dependent = enqueue(sql, fmt::format(R"({{"after": {{"jobs": ["{}"]}}}})", needed));
  const std::string run_now = "run_now(array[$1::uuid], 'now')";
  for (const auto& id : {scheduled, retrying, deferred}) {
    EXPECT_EQ(on(sql, run_now, id), "ready");
    EXPECT_EQ(status(sql, id), "pending");
  }
  EXPECT_EQ(on(sql, run_now, dependent), "delayed");
  EXPECT_EQ(on(sql, run_now, scheduled), "ready") << "already";
  const auto held = worker.claim(3);
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(on(sql, run_now, held[0].id), "leased");
  worker.complete(held[0]);
  EXPECT_EQ(on(sql, run_now, held[0].id), "final");
  EXPECT_EQ(on(sql, run_now, "01900000-0000-7000-8000-00000000dead"), "not_found");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Redrive, reschedule_moves_what_waits_and_never_what_runs) {
  const std::string reschedule =
      "reschedule_jobs(array[$1::uuid], millrace.now() + interval '1 hour')";
  const auto ids = enqueue_many(sql, 2);
  Worker worker(sql);
  const auto running = worker.take();
  EXPECT_EQ(on(sql, reschedule, ids[1]), "rescheduled");
  EXPECT_EQ(on(sql, reschedule, running.id), "leased");
  EXPECT_EQ(worker.claim(10).size(), 0U);
  EXPECT_EQ(on(sql, "reschedule_jobs(array[$1::uuid], millrace.now() - interval '1 hour')", ids[1]),
            "rescheduled");
  keep(sql);
  EXPECT_EQ(worker.take().id, ids[1]);
  for (const char* due : {"null", "'infinity'", "millrace.now() + interval '11 years'"}) {
    EXPECT_EQ(sql.refused(fmt::format("select * from millrace.reschedule_jobs('{{}}', {})", due))
                  .sqlstate,
              "MR006");
  }
  EXPECT_EQ(imbalance(sql), "");
}

// --- Cancel ---

TEST_F(Redrive, cancel_works_wherever_a_job_waits) {
  set_queue(sql, "default", R"({"key_concurrency_max": 1})");
  Worker worker(sql);
  std::vector<std::string> ids;
  ids.push_back(enqueue(sql));
  worker.settle(worker.take(), "retry");
  ids.push_back(enqueue(sql));
  worker.settle(worker.take(), "blocked");
  const auto keyed = enqueue_many(sql, 2, R"({"concurrency_key": "k"})");
  ASSERT_EQ(worker.claim(10).size(), 1U);  // The other one is parked.
  ids.push_back(keyed[1]);
  ids.push_back(enqueue_many(sql, 2, R"({"serial_key": "s", "priority": 1})")[1]);
  ids.push_back(enqueue(sql, R"({"delay_seconds": 60})"));
  ids.push_back(enqueue(sql, fmt::format(R"({{"after": {{"jobs": ["{}"]}}}})", ids[4])));
  ids.push_back(enqueue(sql));
  for (const auto& id : ids) {
    EXPECT_EQ(on(sql, "cancel_jobs(array[$1::uuid], 'not wanted')", id), "cancelled")
        << job(sql, id, "waits_for");
    EXPECT_EQ(status(sql, id), "cancelled");
    EXPECT_EQ(job(sql, id, "reason"), "not wanted");
  }
  keep(sql);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Redrive, cancel_answers_for_every_id_once) {
  Worker worker(sql);
  const auto ids = enqueue_many(sql, 3);
  worker.complete(worker.take());
  worker.take();
  const auto rows = sql.rows(
      "select string_agg(a.answer, ',' order by u.i) from unnest(array[$1, $2, $3, $4, "
      "$3]::uuid[]) "
      "with ordinality u(id, i) join millrace.cancel_jobs(array[$1, $2, $3, $4, $3]::uuid[]) a "
      "on a.job_id = u.id",
      pg::params(ids[0], ids[1], ids[2], "01900000-0000-7000-8000-00000000dead"));
  EXPECT_EQ(rows[0].text(0), "already_final,cancel_requested,cancelled,not_found,cancelled");
  EXPECT_EQ(on(sql, "cancel_jobs(array[$1::uuid])", ids[1]), "cancel_requested") << "again";
  EXPECT_EQ(on(sql, "cancel_jobs(array[$1::uuid])", ids[2]), "already_final");
}

TEST_F(Redrive, i08_cancel_of_another_tenants_job_finds_nothing) {
  const auto id = enqueue(sql);
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  EXPECT_EQ(on(sql, "cancel_jobs(array[$1::uuid])", id), "not_found");
  EXPECT_EQ(on(sql, "run_now(array[$1::uuid])", id), "not_found");
  as_tenant(sql, "");
  EXPECT_EQ(status(sql, id), "pending");
}

// Jobs that move between places while they are cancelled are found all the same, and end exactly
// once.
TEST_F(Redrive, b08_cancel_against_claim_and_settle_leaves_one_outcome_each) {
  const auto ids = enqueue_many(sql, 200);
  together(3, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    if (i == 0) {
      for (std::size_t n = 0; n < ids.size(); n += 2) {
        EXPECT_NE(on(mine, "cancel_jobs(array[$1::uuid])", ids[n]), "not_found");
      }
    } else {
      Worker worker(mine, fmt::format("w{}", i));
      while (!failed && mine.number("select count(*) from millrace.job_history") < 200) {
        for (const auto& delivery : worker.claim(5)) {
          EXPECT_EQ(worker.settle(delivery, i == 1 ? "ok" : "handback"), "settled");
        }
      }
    }
  });
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
  EXPECT_EQ(sql.number("select count(distinct job_id) from millrace.job_history"), 200);
}

}  // namespace
}  // namespace millrace::test
