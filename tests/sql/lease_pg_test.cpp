// Leases: the liveness of processes, deadlines of jobs, take-over, hand-back, and what a running
// job reports.
#include "sql/engine.h"

#include <atomic>

namespace millrace::test {
namespace {

using Lease = EngineTest;

std::int64_t reclaim(Session& sql, int limit = 1000) {
  return sql.number("select millrace.reclaim($1::int)", pg::params(limit));
}

// A worker that took `count` jobs and then stopped beating long enough ago.
Worker dead_worker(Session& sql, int count, const std::string& info = kShortLived) {
  Worker worker(sql, "dead", info);
  if (worker.claim(count).size() != static_cast<std::size_t>(count)) {
    throw std::runtime_error("not enough jobs to die with");
  }
  pass(sql, "31 seconds");
  return worker;
}

// --- Processes ---

TEST_F(Lease, b03_a_worker_id_names_one_process_at_a_time) {
  Worker worker(sql);
  EXPECT_EQ(sql.refused("select millrace.register_worker('w1', '{}')").sqlstate, "MR024");
  EXPECT_EQ(sql.refused("select millrace.register_worker('', '{}')").sqlstate, "MR024");
  EXPECT_EQ(sql.refused("select millrace.register_worker('w2', '{\"lease_ms\": 999}')").sqlstate,
            "MR024");
  sql.run("select millrace.retire_worker('w1', $1::uuid)", pg::params(worker.process()));
  const Worker again(sql);
  EXPECT_NE(again.process(), worker.process());
  enqueue(sql);
  EXPECT_FALSE(worker.beat()) << "the name is alive, this process is not";
  EXPECT_EQ(sql.refused("select * from millrace.claim_jobs('w1', $1::uuid, 'default', 1)",
                        pg::params(worker.process()))
                .sqlstate,
            "MR023");
}

TEST_F(Lease, b04_a_beating_process_keeps_its_jobs_however_long_they_run) {
  const auto id = enqueue(sql, R"({"run_timeout_seconds": 604800})");
  Worker worker(sql, "w1", kShortLived);
  const auto delivery = worker.take();
  for (int i = 0; i < 20; ++i) {
    pass(sql, "25 seconds");
    ASSERT_TRUE(worker.beat());
    ASSERT_EQ(reclaim(sql), 0);
  }
  EXPECT_EQ(status(sql, id), "processing");
  EXPECT_EQ(worker.complete(delivery), "settled");
}

TEST_F(Lease, b05_the_lease_ends_where_it_says_and_nowhere_else) {
  stop_clock(sql);
  enqueue(sql);
  Worker worker(sql, "w1", kShortLived);
  worker.take();
  pass(sql, "30 seconds");
  EXPECT_EQ(reclaim(sql), 0) << "exactly at the end it still holds";
  pass(sql, "1 millisecond");
  EXPECT_EQ(reclaim(sql), 1);
}

TEST_F(Lease, b06_no_lease_can_lack_its_token_or_its_end) {
  EXPECT_EQ(
      sql.number("select count(*) from pg_attribute where attrelid = 'millrace.lease'::regclass "
                 "and attname in ('token', 'lease_until', 'worker_id', 'leased_at') "
                 "and attnotnull"),
      4);
}

TEST_F(Lease, b09_a_dead_workers_job_is_handed_out_again_after_its_lease) {
  const auto id = enqueue(sql);
  dead_worker(sql, 1);
  EXPECT_EQ(reclaim(sql), 1);
  EXPECT_EQ(status(sql, id), "retrying");
  EXPECT_EQ(sql.value("select error ->> 'original_worker' from millrace.attempt"), "dead");
  EXPECT_EQ(sql.value("select error ->> 'error_type' from millrace.attempt"), "worker_timeout");
  EXPECT_TRUE(sql.yes("select due_at <= millrace.now() + interval '500 ms' from millrace.delayed"));
  pass(sql, "1 second");
  keep(sql);
  Worker other(sql, "other");
  EXPECT_EQ(other.take().attempt, 2);
}

TEST_F(Lease, b17_heartbeats_never_touch_job_rows) {
  enqueue_many(sql, 20);
  Worker worker(sql);
  worker.claim(20);
  const std::string versions =
      "select string_agg(xmin::text || ctid::text, ',' order by job_id) "
      "from millrace.lease";
  const auto before = sql.value(versions);
  for (int i = 0; i < 10; ++i) worker.beat();
  EXPECT_EQ(sql.value(versions), before);
}

TEST_F(Lease, b14_a_claim_late_in_a_transaction_is_leased_from_that_moment) {
  enqueue(sql);
  Session clock(database);
  stop_clock(clock);
  const auto start = clock.value("select millrace.now()");
  Worker worker(sql);
  must(sql.connection().begin());
  sql.value("select millrace.now()");
  pass(clock, "40 seconds");  // What a slow transaction spends before it claims.
  worker.take();
  must(sql.connection().commit());
  EXPECT_TRUE(
      sql.yes("select leased_at = $1::timestamptz + interval '40 seconds' from millrace.lease",
              pg::params(start)));
}

TEST_F(Lease, a_process_declared_dead_is_told_at_its_next_beat) {
  enqueue(sql);
  auto dead = dead_worker(sql, 1);
  reclaim(sql);
  EXPECT_FALSE(dead.beat());
  EXPECT_EQ(sql.refused("select * from millrace.claim_jobs('dead', $1::uuid, 'default', 1)",
                        pg::params(dead.process()))
                .sqlstate,
            "MR023");
}

// --- Deadlines of jobs ---

TEST_F(Lease, b17_a_hung_job_of_a_live_process_ends_at_its_own_deadline) {
  stop_clock(sql);
  const auto hung = enqueue(sql, R"({"run_timeout_seconds": 100})");
  const auto fine = enqueue(sql, R"({"run_timeout_seconds": 1000})");
  Worker worker(sql);
  worker.claim(2);
  pass(sql, "130 seconds");  // Its time limit and the queue's lease.
  EXPECT_EQ(reclaim(sql), 0);
  pass(sql, "1 second");
  EXPECT_EQ(reclaim(sql), 1);
  EXPECT_EQ(status(sql, hung), "retrying");
  EXPECT_EQ(status(sql, fine), "processing");
  EXPECT_EQ(sql.value("select suspect_count from millrace.delayed"), "0")
      << "nobody died: no suspicion";
}

TEST_F(Lease, extend_that_waited_for_a_settlement_says_that_it_was_settled) {
  enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  sql.script("begin");
  worker.complete(delivery);  // Not committed yet.
  Session late(database);
  const auto pid = late.value("select pg_backend_pid()");
  std::string answer;
  {
    std::jthread extending([&] {
      answer = late.value(
          "select answer from millrace.extend_leases('w1', array[$1::uuid], array[$2::uuid], 1000)",
          pg::params(delivery.id, delivery.token));
    });
    Session watcher(database);
    while (!watcher.yes("select cardinality(pg_blocking_pids($1::int)) > 0", pg::params(pid))) {
    }
    sql.script("commit");
  }
  EXPECT_EQ(answer, "already_settled");
}

TEST_F(Lease, extend_answers_a_stale_token_beside_the_live_one_of_the_same_job) {
  enqueue(sql);
  Worker worker(sql);
  const auto stale = worker.take();
  worker.settle(stale, "handback");
  const auto live = worker.take();
  ASSERT_EQ(stale.id, live.id);
  EXPECT_EQ(sql.value("select string_agg(answer, ',' order by n) from rows from ("
                      "millrace.extend_leases('w1', array[$1, $1]::uuid[], array[$2, $3]::uuid[], "
                      "1000)) with ordinality e(job_id, answer, cancel_requested, n)",
                      pg::params(live.id, stale.token, live.token)),
            "lease_lost,extended");
}

TEST_F(Lease, extend_moves_the_deadline_of_its_holder_only) {
  stop_clock(sql);
  enqueue(sql, R"({"run_timeout_seconds": 100})");
  Worker worker(sql);
  const auto delivery = worker.take();
  const auto extend = [&](const char* who, const std::string& token, int ms) {
    return sql.value(
        "select answer from millrace.extend_leases($1, array[$2::uuid], array[$3::uuid], $4::int)",
        pg::params(who, delivery.id, token, ms));
  };
  EXPECT_EQ(extend("stranger", delivery.token, 1'000'000), "lease_lost");
  EXPECT_EQ(extend("w1", "00000000-0000-4000-8000-00000000dead", 1'000'000), "lease_lost");
  pass(sql, "131 seconds");
  EXPECT_EQ(extend("w1", delivery.token, 1'000'000), "extended") << "late, but nobody took it away";
  EXPECT_EQ(reclaim(sql), 0);
  pass(sql, "1001 seconds");
  EXPECT_EQ(reclaim(sql), 1);
  EXPECT_EQ(extend("w1", delivery.token, 1000), "lease_lost");
  EXPECT_EQ(sql.refused("select * from millrace.extend_leases('w1', '{}', '{}', 0)").sqlstate,
            "MR024");
}

// --- Reclaim ---

TEST_F(Lease, c02_jitter_is_drawn_per_row) {
  set_queue(sql, "default", R"({"reclaim_jitter": "60 s"})");
  stop_clock(sql);
  enqueue_many(sql, 100);
  dead_worker(sql, 100);
  EXPECT_EQ(reclaim(sql), 100);
  EXPECT_GT(sql.number("select count(distinct due_at) from millrace.delayed"), 95);
  EXPECT_TRUE(
      sql.yes("select min(due_at) >= millrace.now() and max(due_at) <= millrace.now() + "
              "interval '60 s' and max(due_at) - min(due_at) > interval '30 s' "
              "from millrace.delayed"));
}

TEST_F(Lease, reclaim_takes_at_most_its_limit_and_comes_back_for_the_rest) {
  enqueue_many(sql, 25);
  dead_worker(sql, 25);
  EXPECT_EQ(reclaim(sql, 10), 10);
  EXPECT_EQ(reclaim(sql, 10), 10) << "the process row is gone, its leases are still found";
  EXPECT_EQ(reclaim(sql, 10), 5);
  EXPECT_EQ(reclaim(sql, 10), 0);
}

TEST_F(Lease, reclaim_steps_over_a_job_that_is_being_settled) {
  const auto ids = enqueue_many(sql, 2);
  Worker worker(sql, "slow", kShortLived);
  const auto held = worker.claim(2);
  pass(sql, "31 seconds");
  Session sweeper(database);
  sweeper.run("set lock_timeout = '10s'");

  must(sql.connection().begin());
  EXPECT_EQ(worker.complete(held[0]), "settled");  // Not committed yet.
  EXPECT_EQ(reclaim(sweeper), 1);
  must(sql.connection().commit());

  EXPECT_EQ(status(sql, ids[0]), "completed");
  EXPECT_EQ(status(sql, ids[1]), "retrying");
  EXPECT_EQ(reclaim(sweeper), 0);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lease, settle_that_meets_a_reclaim_under_way_waits_and_learns_that_it_lost) {
  const auto id = enqueue(sql);
  Worker worker(sql, "slow", kShortLived);
  const auto delivery = worker.take();
  pass(sql, "31 seconds");
  Session sweeper(database);
  must(sweeper.connection().begin());
  EXPECT_EQ(reclaim(sweeper), 1);
  std::string answer;
  std::jthread settling([&] { answer = worker.complete(delivery); });
  Session observer(database);
  while (
      !observer.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' "
                    "and datname = current_database())")) {
  }
  must(sweeper.connection().commit());
  settling.join();
  EXPECT_EQ(answer, "lease_lost");
  EXPECT_EQ(status(sql, id), "retrying");
}

// --- Poison and suspects ---

TEST_F(Lease, d06_death_of_a_shared_process_is_never_poison) {
  set_queue(sql, "default", R"({"max_attempts": 100, "reclaim_jitter": "0 s"})");
  const auto ids = enqueue_many(sql, 2);
  for (int i = 0; i < 3; ++i) {
    dead_worker(sql, 2);
    keep(sql);
  }
  for (const auto& id : ids) EXPECT_EQ(status(sql, id), "pending");
  EXPECT_EQ(
      sql.value("select string_agg(crash_count || '/' || suspect_count, ',') from millrace.ready"),
      "0/3,0/3");
}

TEST_F(Lease, d06_a_death_alone_among_other_deaths_is_no_evidence) {
  stop_clock(sql);
  set_queue(sql, "default", R"({"max_attempts": 100, "reclaim_jitter": "0 s"})");
  enqueue(sql);
  for (int i = 0; i < 3; ++i) {
    dead_worker(sql, 1);
    keep(sql);
  }
  const auto crashes = [&] { return sql.value("select crash_count from millrace.ready"); };
  const auto dies_alone = [&](const std::string& name) {
    Worker worker(sql, name, kShortLived);
    ASSERT_EQ(worker.claim(1, {.alone = true}).size(), 1U);
  };
  dies_alone("a");
  Worker idle(sql, "b", kShortLived);
  pass(sql, "31 seconds");
  reclaim(sql);
  keep(sql);
  EXPECT_EQ(crashes(), "0") << "somebody kills workers";
  dies_alone("c");
  pass(sql, "31 seconds");
  reclaim(sql);
  keep(sql);
  EXPECT_EQ(crashes(), "1") << "it died alone, and nobody else did";
  EXPECT_EQ(sql.number("select count(*) from millrace.process_death"), 3)
      << "notes of the last minute only";
}

TEST_F(Lease, d06_a_storm_of_deaths_makes_no_suspects) {
  stop_clock(sql);
  set_queue(sql, "default", R"({"max_attempts": 100, "reclaim_jitter": "0 s"})");
  enqueue_many(sql, 2);
  const auto suspects = [&] {
    return sql.value("select string_agg(suspect_count::text, ',') from millrace.ready");
  };
  const auto dies_with_one = [&](const std::string& name) {
    Worker worker(sql, name, R"({"lease_ms": 30000, "supervisor_id": "s"})");
    ASSERT_EQ(worker.claim(1).size(), 1U);
  };
  const auto seen_to_die = [&](const std::string& name) {
    sql.run("select millrace.hand_back_process('s', $1)", pg::params(name));
    keep(sql);
  };
  for (int i = 0; i < 3; ++i) {
    dies_with_one("a");
    dies_with_one("b");
    pass(sql, "31 seconds");
    keep(sql);
  }
  EXPECT_EQ(suspects(), "0,0") << "two processes died each time";
  // One job, under which process after process dies within seconds: all of the deaths are its own.
  pass(sql, "1 minute");
  for (int i = 0; i < 3; ++i) {
    Worker worker(sql, "c", R"({"lease_ms": 30000, "supervisor_id": "s"})");
    ASSERT_EQ(worker.claim(2).size(), 2U);
    pass(sql, "1 second");
    seen_to_die("c");
  }
  EXPECT_EQ(suspects(), "3,3");
}

TEST_F(Lease, d06_suspects_run_alone_and_an_innocent_one_completes) {
  set_queue(sql, "default", R"({"max_attempts": 100, "reclaim_jitter": "0 s"})");
  enqueue_many(sql, 2);
  for (int i = 0; i < 3; ++i) {
    dead_worker(sql, 2);
    keep(sql);
  }
  const auto fresh = enqueue(sql);
  Worker worker(sql);
  EXPECT_EQ(ids_of(worker.claim(10)), std::vector{fresh}) << "suspects share with nobody";
  EXPECT_EQ(sql.value("select millrace.beat_worker('w1', $1::uuid) ->> 'suspects'",
                      pg::params(worker.process())),
            "2");
  const auto alone = worker.claim(10, {.alone = true});
  ASSERT_EQ(alone.size(), 1U) << "one at a time";
  EXPECT_EQ(worker.complete(alone[0]), "settled");
  EXPECT_EQ(status(sql, alone[0].id), "completed");
}

TEST_F(Lease, d06_three_deaths_of_a_process_in_which_it_ran_alone_are_poison) {
  set_queue(sql, "default", R"({"max_attempts": 100, "reclaim_jitter": "0 s"})");
  const auto id = enqueue(sql);
  for (int i = 0; i < 3; ++i) {
    dead_worker(sql, 1);
    keep(sql);
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(status(sql, id), "pending");
    Worker worker(sql, "dead", kShortLived);
    worker.take({.alone = true});
    pass(sql, "31 seconds");
    keep(sql);
  }
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "poison");
}

// --- Leaving ---

TEST_F(Lease, b15_retiring_hands_back_in_order_and_without_charge) {
  const auto ids = enqueue_many(sql, 4, R"({"max_attempts": 1})");
  Worker leaving(sql, "leaving");
  const auto held = leaving.claim(3);
  EXPECT_EQ(sql.number("select millrace.retire_worker('leaving', $1::uuid)",
                       pg::params(leaving.process())),
            3);
  EXPECT_EQ(sql.number("select count(*) from millrace.worker"), 0);
  EXPECT_EQ(leaving.complete(held[0]), "lease_lost");
  Worker next(sql, "next");
  const auto again = next.claim(10);
  EXPECT_EQ(ids_of(again), ids);
  EXPECT_EQ(again[0].attempt, 1);
  EXPECT_EQ(again[0].delivery, 2);
}

TEST_F(Lease, b15_a_claim_under_way_is_waited_for_and_handed_back) {
  const auto ids = enqueue_many(sql, 3, R"({"max_attempts": 1})");
  Session claiming(database);
  const Worker leaving(claiming, "leaving");
  must(claiming.connection().begin());
  claiming.rows("select * from millrace.claim_jobs('leaving', $1::uuid, 'default', 10)",
                pg::params(leaving.process()));
  std::atomic<std::int64_t> returned = -1;
  std::jthread retiring([&] {
    Session own(database);
    returned = own.number("select millrace.retire_worker('leaving', $1::uuid)",
                          pg::params(leaving.process()));
  });
  Session observer(database);
  while (returned < 0 &&
         !observer.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' "
                       "and datname = current_database())")) {
  }
  must(claiming.connection().commit());
  retiring.join();
  EXPECT_EQ(returned, 3);
  Worker next(sql, "next");
  EXPECT_EQ(ids_of(next.claim(10)), ids);
}

TEST_F(Lease, supervisor_hands_back_its_crashed_child_at_once_and_nobody_elses) {
  set_queue(sql, "default", R"({"reclaim_jitter": "1 hour"})");  // For crowds; this is one process.
  const auto id = enqueue(sql);
  Worker child(sql, "child", R"({"lease_ms": 86400000, "supervisor_id": "sup"})");
  child.take();
  const std::string hand_back = "select millrace.hand_back_process($1, 'child')";
  EXPECT_EQ(sql.number(hand_back, pg::params("other")), 0);
  EXPECT_EQ(status(sql, id), "processing");
  EXPECT_EQ(sql.number(hand_back, pg::params("sup")), 1);
  EXPECT_EQ(sql.value("select error ->> 'error_type' from millrace.attempt"), "worker_crashed");
  EXPECT_FALSE(child.beat());
  const auto again = Worker(sql, "other").take();  // Without a keeper.
  EXPECT_EQ(again.id, id);
  EXPECT_EQ(again.attempt, 2) << "charged, as any lost delivery";
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lease, b10_unheld_leases_names_what_a_lost_claim_answer_took_and_changes_nothing) {
  const auto ids = enqueue_many(sql, 3, R"({"max_attempts": 1})");
  Worker worker(sql);
  Worker other(sql, "w2");
  const auto known = worker.take();
  worker.claim(1);  // Whose answer never arrived.
  other.take();
  const auto unheld = [&](const std::string& process, const std::string& column) {
    return sql.value("select string_agg(" + column +
                         "::text, ',' order by job_id) from millrace.unheld_leases('w1', $1::uuid, "
                         "array[$2::uuid])",
                     pg::params(process, known.token));
  };
  EXPECT_EQ(unheld(worker.process(), "job_id"), ids[1]);
  EXPECT_EQ(unheld(worker.process(), "token"),
            sql.value("select token::text from millrace.lease where job_id = $1::uuid",
                      pg::params(ids[1])));
  EXPECT_EQ(unheld(other.process(), "job_id"), "(null)") << "w2's process under the name of w1";
  EXPECT_EQ(sql.number("select count(*) from millrace.lease"), 3);
}

// --- Cancellation, progress, logs of running jobs ---

TEST_F(Lease, b15_cancel_of_a_running_job_reaches_its_holder_on_every_path) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  EXPECT_EQ(sql.value("select answer from millrace.cancel_jobs(array[$1::uuid], 'user left')",
                      pg::params(id)),
            "cancel_requested");
  const auto beat = sql.value("select millrace.beat_worker('w1', $1::uuid) -> 'cancel' -> 0",
                              pg::params(worker.process()));
  EXPECT_NE(beat.find(delivery.token), std::string::npos) << beat;
  EXPECT_NE(beat.find("user left"), std::string::npos) << beat;
  EXPECT_TRUE(
      sql.yes("select cancel_requested from millrace.extend_leases('w1', array[$1::uuid], "
              "array[$2::uuid], 1000)",
              pg::params(id, delivery.token)));
  EXPECT_TRUE(
      sql.yes("select cancel_requested from millrace.report_progress('w1', "
              "jsonb_build_array(jsonb_build_object('job_id', $1::text, 'token', $2::text)))",
              pg::params(id, delivery.token)));
  EXPECT_EQ(worker.settle(delivery, "cancelled"), "settled");
  EXPECT_EQ(status(sql, id), "cancelled");
  EXPECT_EQ(job(sql, id, "reason"), "user left");
}

TEST_F(Lease, b08_a_failure_after_a_cancel_request_ends_cancelled_and_a_success_stands) {
  const auto ids = enqueue_many(sql, 3);
  Worker worker(sql);
  const auto held = worker.claim(3);
  sql.run("select * from millrace.cancel_jobs($1::uuid[])",
          pg::params(fmt::format("{{{},{},{}}}", ids[0], ids[1], ids[2])));
  worker.settle(held[0], "retry");
  worker.settle(held[1], "handback");
  worker.settle(held[2], "ok");
  EXPECT_EQ(status(sql, ids[0]), "cancelled");
  EXPECT_EQ(status(sql, ids[1]), "cancelled");
  EXPECT_EQ(status(sql, ids[2]), "completed");
}

TEST_F(Lease, k03_progress_never_goes_back_within_one_delivery) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  auto delivery = worker.take();
  const auto report = [&](const std::string& progress) {
    sql.run(
        "select * from millrace.report_progress('w1', jsonb_build_array(jsonb_build_object("
        "'job_id', $1::text, 'token', $2::text) || $3::jsonb))",
        pg::params(delivery.id, delivery.token, progress));
    return job(sql, id, "progress");
  };
  EXPECT_EQ(report(R"({"progress": 40, "message": "page 4"})"), "40");
  EXPECT_EQ(report(R"({"progress": 30})"), "40");
  EXPECT_EQ(report(R"({"progress": 1e9})"), "100");
  EXPECT_EQ(job(sql, id, "progress_message"), "page 4");
  worker.settle(delivery, "handback");
  const auto old = delivery;
  delivery = worker.take();
  EXPECT_EQ(report(R"({"progress": -5})"), "0") << "a new delivery starts anew";
  delivery = old;
  EXPECT_EQ(report(R"({"progress": 77})"), "0") << "a stale one reports to nobody";
}

// X-04: what was said since the last report goes in one call.
TEST_F(Lease, k03_steps_of_a_job_in_one_report_are_told_one_by_one) {
  const auto ids = enqueue_many(sql, 2);
  Worker worker(sql);
  const auto held = worker.claim(2);
  EXPECT_EQ(sql.value("select string_agg(r.answer, ' ') from millrace.report_progress('w1', "
                      "jsonb_build_array("
                      "jsonb_build_object('job_id', $1::text, 'token', $2::text, 'progress', 25, "
                      "'message', 'fill'), "
                      "jsonb_build_object('job_id', $3::text, 'token', $4::text, 'progress', 7), "
                      "jsonb_build_object('job_id', $1::text, 'token', $2::text, 'progress', 20, "
                      "'message', 'print'), "
                      "jsonb_build_object('job_id', $1::text, 'token', $4::text, 'progress', 99))) "
                      "r",
                      pg::params(held[0].id, held[0].token, held[1].id, held[1].token)),
            "settled settled settled lease_lost");
  EXPECT_EQ(job(sql, held[0].id, "progress"), "25") << "never back";
  EXPECT_EQ(job(sql, held[0].id, "progress_message"), "print");
  EXPECT_EQ(job(sql, held[1].id, "progress"), "7");
  EXPECT_EQ(sql.value("select string_agg(concat_ws(':', e.data ->> 'progress', e.data ->> "
                      "'message'), ' ' order by e.event_id) from millrace.event e where e.kind = "
                      "'job.progress' and e.job_ids = array[$1::uuid]",
                      pg::params(held[0].id)),
            "25:fill 25:print");
}

TEST_F(Lease, logs_are_capped_per_delivery_cut_per_line_and_dropped_when_stale) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  const auto append = [&](const Delivery& to, int lines) {
    return sql.number(
        "select millrace.append_logs('w1', (select jsonb_agg(jsonb_build_object('job_id', "
        "$1::text, "
        "'token', $2::text, 'level', 'shout', 'message', repeat('x', 9000))) from "
        "generate_series(1, $3::int)))",
        pg::params(to.id, to.token, lines));
  };
  EXPECT_EQ(append(delivery, 600), 600);
  EXPECT_EQ(append(delivery, 600), 400);
  EXPECT_EQ(append(delivery, 10), 0);
  EXPECT_EQ(append({.id = id, .token = "00000000-0000-4000-8000-00000000dead"}, 1), 0);
  EXPECT_EQ(sql.value("select format('%s %s %s', count(*), min(level), max(length(message))) "
                      "from millrace.job_log"),
            "1000 info 8192");
  worker.settle(delivery, "handback");
  EXPECT_EQ(append(worker.take(), 1500), 1000) << "each delivery has its own thousand";
}

}  // namespace
}  // namespace millrace::test
