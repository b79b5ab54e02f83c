// Claiming: what is handed out, in which order, to whom, and what it costs to find.
#include "sql/engine.h"

#include <algorithm>
#include <map>
#include <set>

namespace millrace::test {
namespace {

using Claim = EngineTest;

constexpr const char* kFlood = "aaaaaaaa-0000-4000-8000-000000000001";
constexpr const char* kQuiet = "bbbbbbbb-0000-4000-8000-000000000002";

// A mark "type:tenant:priority:ready_seq" as the argument p_marks.
std::string marks_of(const Delivery& delivery) {
  const auto colon = delivery.mark.rfind(':');
  return fmt::format(R"({{"{}": {}}})", delivery.mark.substr(0, colon),
                     delivery.mark.substr(colon + 1));
}

// Index entries of ready_claim_idx that a claim reads; the claim is rolled back.
std::int64_t entries_read_by_claim(Session& sql, Worker& worker, const ClaimOptions& options) {
  const std::string read =
      "select pg_stat_get_xact_tuples_returned('millrace.ready_claim_idx'::regclass)";
  must(sql.connection().begin());
  const auto before = sql.number(read);
  EXPECT_EQ(worker.claim(5, options).size(), 5U);
  const auto entries = sql.number(read) - before;
  must(sql.connection().rollback());
  return entries;
}

TEST_F(Claim, a04_claim_answers_every_column_without_ambiguity) {
  const auto id = enqueue(sql, R"({"job_name": "name", "correlation_id": "c-1", "stage": "ocr",
                                   "pipeline": "p", "serial_key": "s", "max_attempts": 4,
                                   "run_timeout_seconds": 7})");
  Worker worker(sql);
  const auto rows = sql.rows("select * from millrace.claim_jobs($1, $2::uuid, 'default', 10)",
                             pg::params(worker.id(), worker.process()));
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows[0].text("job_id"), id);
  EXPECT_EQ(rows[0].text("job_type"), "noop");
  EXPECT_EQ(rows[0].text("payload"), R"({"n": 1})");
  EXPECT_EQ(rows[0].text("job_name"), "name");
  EXPECT_EQ(rows[0].text("correlation_id"), "c-1");
  EXPECT_EQ(rows[0].text("serial_key"), "s");
  EXPECT_EQ(rows[0].text("stage"), "ocr");
  EXPECT_EQ(rows[0].i64("attempt"), 1);
  EXPECT_EQ(rows[0].i64("run_timeout_ms"), 7000);
  EXPECT_EQ(rows[0].i64("lease_ms"), 7000 + 30000);
}

TEST_F(Claim, a05_type_filter_hands_out_exactly_the_types_named) {
  const auto slow = enqueue(sql, "{}", "sleep");
  const auto quick = enqueue(sql);
  Worker worker(sql);
  EXPECT_EQ(worker.claim(10, {.types = "{unheard_of}"}).size(), 0U);
  EXPECT_EQ(ids_of(worker.claim(10, {.types = "{sleep,unheard_of}"})), std::vector{slow});
  EXPECT_EQ(ids_of(worker.claim(10)), std::vector{quick});
}

TEST_F(Claim, a03_bad_arguments_are_errors_and_never_an_empty_answer) {
  enqueue(sql);
  Worker worker(sql);
  const auto claim = [&](const char* worker_id, const char* queue, const char* limit) {
    return sql
        .refused("select * from millrace.claim_jobs($1, $2::uuid, $3, $4::int)",
                 pg::params(worker_id, worker.process(), queue, limit))
        .sqlstate;
  };
  EXPECT_EQ(claim("w1", "nowhere", "1"), "MR007");
  EXPECT_EQ(claim("w1", "default", "0"), "MR024");
  EXPECT_EQ(claim("w1", "default", "10001"), "MR024");
  EXPECT_EQ(claim("somebody", "default", "1"), "MR023");
  EXPECT_EQ(sql.refused("select * from millrace.claim_jobs('somebody', null, 'default', 1, null, "
                        "null, false, true, null)")
                .sqlstate,
            "MR023");
  EXPECT_EQ(places(sql), "ready 1, delayed 0, leased 0");
}

TEST_F(Claim, c01_claim_passes_an_open_claim_without_waiting_and_reclaims_nothing) {
  const auto lost = enqueue(sql);
  Worker dead(sql, "dead", kShortLived);
  ASSERT_EQ(dead.take().id, lost);
  pass(sql, "1 hour");
  const auto ids = enqueue_many(sql, 10, kInReady);

  Worker first(sql, "first");
  Session other(database);
  other.run("set lock_timeout = '10s'");
  Worker second(other, "second");
  must(sql.connection().begin());
  const auto mine = ids_of(first.claim(5));
  const auto theirs = ids_of(second.claim(10));  // While the first claim is not committed.
  must(sql.connection().commit());

  EXPECT_EQ(mine, std::vector(ids.begin(), ids.begin() + 5));
  EXPECT_EQ(theirs, std::vector(ids.begin() + 5, ids.end()));
  EXPECT_EQ(job(sql, lost, "worker_id"), "dead") << "only the sweeper takes over";
}

TEST_F(Claim, c03_no_plan_hands_out_more_than_the_limit) {
  for (const char* off : {"enable_hashjoin", "enable_mergejoin", "enable_material"}) {
    sql.run(fmt::format("set {} = off", off));
  }
  Worker worker(sql);
  enqueue_many(sql, 50, kInReady);
  EXPECT_EQ(worker.claim(1).size(), 1U);
  EXPECT_EQ(worker.claim(7).size(), 7U);
  EXPECT_EQ(places(sql), "ready 42, delayed 0, leased 8");
  EXPECT_EQ(worker.claim(50).size(), 42U);
  enqueue_many(sql, 50);
  EXPECT_EQ(worker.claim(1).size(), 1U);
  EXPECT_EQ(worker.claim(7).size(), 7U);
  EXPECT_EQ(places(sql), "ready 42, delayed 0, leased 58");
}

TEST_F(Claim, c04_claim_reads_the_head_of_the_index_and_never_the_table) {
  enqueue_many(sql, 4000, kInReady);
  enqueue_many(sql, 4000, R"({"priority": 9, "max_attempts": 25})");
  Worker worker(sql);
  must(sql.connection().begin());
  const std::string scans = "select pg_stat_get_xact_numscans('millrace.ready'::regclass)";
  const auto scans_before = sql.number(scans);
  must(sql.connection().rollback());
  EXPECT_LT(entries_read_by_claim(sql, worker, {}), 100);
  EXPECT_EQ(sql.number(scans), scans_before);
}

TEST_F(Claim, c05_future_work_of_higher_priority_is_not_visited) {
  enqueue_many(sql, 2000, R"({"priority": 1000, "delay_seconds": 3600})");
  enqueue_many(sql, 5, R"({"priority": 1})");
  Worker worker(sql);
  EXPECT_LT(entries_read_by_claim(sql, worker, {}), 100);
  EXPECT_EQ(worker.claim(10).size(), 5U);
  pass(sql, "3601 seconds");
  EXPECT_EQ(worker.claim(10).size(), 0U) << "promotion is the keeper's";
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 10U);
}

TEST_F(Claim, c06_what_waits_or_has_ended_is_never_handed_out) {
  enqueue_many(sql, 5);
  Worker worker(sql);
  const auto held = worker.claim(5);
  EXPECT_EQ(worker.settle(held[0], "ok"), "settled");
  EXPECT_EQ(worker.settle(held[1], "permanent"), "settled");
  EXPECT_EQ(worker.settle(held[2], "cancelled"), "settled");
  EXPECT_EQ(worker.settle(held[3], "retry"), "settled");
  EXPECT_EQ(worker.settle(held[4], "blocked"), "settled");
  pass(sql, "10 minutes");
  EXPECT_EQ(worker.claim(10).size(), 0U);
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 2U) << "the retry and the blocked one, once due";
}

TEST_F(Claim, c07_what_a_payload_says_about_time_is_not_read) {
  Worker worker(sql);
  for (const char* options : {"{}", kInReady}) {
    const auto id = sql.value(
        "select millrace.enqueue_job('noop', '{\"retry_at\": \"never\", \"scheduled_at\": 7}', "
        "$1::jsonb)",
        pg::params(options));
    EXPECT_EQ(worker.take().id, id);
  }
}

TEST_F(Claim, c09_stage_belongs_to_the_pipeline_and_survives_claim_and_retry) {
  const auto id = enqueue(sql, R"({"pipeline": "parse", "stage": "chunking"})");
  Worker worker(sql);
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const auto rows =
        sql.rows("select job_id, token, stage from millrace.claim_jobs($1, $2::uuid, 'default', 1)",
                 pg::params(worker.id(), worker.process()));
    ASSERT_EQ(rows.rows(), 1U);
    EXPECT_EQ(rows[0].text("stage"), "chunking");
    EXPECT_EQ(job(sql, id, "stage"), "chunking");
    EXPECT_EQ(status(sql, id), "processing");
    worker.settle({.id = id, .token = std::string(rows[0].text("token"))}, "retry");
    EXPECT_EQ(job(sql, id, "stage"), "chunking");
    EXPECT_EQ(status(sql, id), "retrying");
    pass(sql, "1 minute");
    keep(sql);
  }
}

TEST_F(Claim, c11_priority_is_exact_and_ties_go_by_age) {
  std::vector<std::string> by_priority;
  for (const int priority : {5, 1000, 0, 7, 999, 5}) {
    by_priority.push_back(enqueue(sql, fmt::format(R"({{"priority": {}}})", priority)));
  }
  Worker worker(sql);
  std::vector<std::string> order;
  for (int i = 0; i < 6; ++i) order.push_back(worker.take().id);
  EXPECT_EQ(order, (std::vector{by_priority[1], by_priority[4], by_priority[3], by_priority[0],
                                by_priority[5], by_priority[2]}));
}

TEST_F(Claim, c11_waiting_raises_priority_by_one_per_age_step) {
  set_queue(sql, "default", R"({"age_step": "30 s"})");
  stop_clock(sql);
  const auto old = enqueue(sql, R"({"priority": 0})");
  pass(sql, "300 seconds");  // Worth 10 by now.
  const auto higher = enqueue(sql, R"({"priority": 11})");
  const auto lower = enqueue(sql, R"({"priority": 9})");
  Worker worker(sql);
  EXPECT_EQ(worker.take().id, higher);
  EXPECT_EQ(worker.take().id, old);
  EXPECT_EQ(worker.take().id, lower);
}

TEST_F(Claim, c11_the_young_of_an_aged_group_do_not_ride_on_its_head) {
  set_queue(sql, "default", R"({"age_step": "30 s"})");
  stop_clock(sql);
  const auto aged = enqueue(sql, R"({"priority": 5})");
  pass(sql, "150 seconds");
  const auto young = enqueue(sql, R"({"priority": 5})");
  const auto better = enqueue(sql, R"({"priority": 7})");
  Worker worker(sql);
  EXPECT_EQ(ids_of(worker.claim(10)), (std::vector{aged, better, young}));
}

TEST_F(Claim, c11_without_age_step_nothing_ages) {
  set_queue(sql, "default", R"({"age_step": null})");
  const auto old = enqueue(sql, R"({"priority": 0})");
  pass(sql, "30 days");
  const auto fresh = enqueue(sql, R"({"priority": 1})");
  Worker worker(sql);
  EXPECT_EQ(worker.take().id, fresh);
  EXPECT_EQ(worker.take().id, old);
}

TEST_F(Claim, c11_a_flooding_tenant_leaves_the_others_their_share_of_every_batch) {
  as_tenant(sql, kFlood);
  enqueue_many(sql, 1000);
  as_tenant(sql, kQuiet);
  enqueue_many(sql, 6);
  as_tenant(sql, "");
  Worker worker(sql);
  std::map<std::string, int> first;
  for (const auto& delivery : worker.claim(10)) ++first[delivery.tenant];
  EXPECT_EQ(first[kQuiet], 5);
  EXPECT_EQ(first[kFlood], 5);
  std::map<std::string, int> second;
  for (const auto& delivery : worker.claim(10)) ++second[delivery.tenant];
  EXPECT_EQ(second[kQuiet], 1);
  EXPECT_EQ(second[kFlood], 9) << "what one tenant does not use goes to the others";
}

TEST_F(Claim, c11_weights_divide_a_batch_in_proportion) {
  for (const char* tenant : {kFlood, kQuiet}) {
    as_tenant(sql, tenant);
    enqueue_many(sql, 20);
  }
  as_tenant(sql, "");
  sql.run("select millrace.set_tenant_weight($1::uuid, 3)", pg::params(kFlood));
  Worker worker(sql);
  std::map<std::string, int> share;
  for (const auto& delivery : worker.claim(8)) ++share[delivery.tenant];
  EXPECT_EQ(share[kFlood], 6);
  EXPECT_EQ(share[kQuiet], 2);
}

TEST_F(Claim, c11_tenants_take_turns_when_a_batch_is_smaller_than_their_number) {
  for (const char* tenant : {kFlood, kQuiet}) {
    as_tenant(sql, tenant);
    enqueue_many(sql, 60);
  }
  as_tenant(sql, "");
  Worker worker(sql);
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) seen.insert(worker.take().tenant);
  EXPECT_EQ(seen.size(), 2U);  // By chance one in 2^49 runs fails.
}

TEST_F(Claim, c15_marks_step_over_entries_that_an_old_snapshot_keeps_alive) {
  constexpr int kDead = 600;
  Worker worker(sql);
  Session reader(database);
  must(reader.connection().begin());
  reader.run("set transaction isolation level repeatable read");
  reader.number("select count(*) from millrace.ready");  // The snapshot is held from here on.

  enqueue_many(sql, kDead, kInReady);
  Delivery last;
  for (int done = 0; done < kDead; done += 100) {
    const auto held = worker.claim(100);
    ASSERT_EQ(held.size(), 100U);
    for (const auto& delivery : held) ASSERT_EQ(worker.complete(delivery), "settled");
    last = held.back();
  }
  enqueue_many(sql, 10, kInReady);

  const auto full = entries_read_by_claim(sql, worker, {});
  const auto marked = entries_read_by_claim(sql, worker, {.marks = marks_of(last)});
  EXPECT_GE(full, kDead) << "the snapshot keeps the entries; otherwise this test shows nothing";
  EXPECT_LT(marked, 60);
  must(reader.connection().rollback());
}

TEST_F(Claim, c15_a_mark_hides_nothing_from_a_full_scan) {
  enqueue_many(sql, 3);
  Worker worker(sql);
  const auto held = worker.claim(3);
  worker.settle(held[0], "handback");  // Back to its place, before the mark.
  EXPECT_EQ(worker.claim(5, {.marks = marks_of(held[2])}).size(), 0U);
  EXPECT_EQ(ids_of(worker.claim(5)), std::vector{held[0].id});
}

// A claim takes new snapshots as it goes: what it leases must be what it answers.
TEST_F(Claim, b10_a_job_committed_while_the_claim_looks_is_handed_out_if_it_is_leased) {
  enqueue(sql);
  sql.run("select millrace.set_tenant_weight('00000000-0000-0000-0000-000000000000', 1)");
  Stop stop(database, "tenant_weight", "select");
  Session slow(database);
  stop.stops(slow);
  Worker worker(slow);
  std::size_t got = 0;
  {
    std::jthread claiming([&] { got = worker.claim(10).size(); });
    stop.wait_until_stopped();
    enqueue(sql);
    stop.go_on();
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.lease"), static_cast<std::int64_t>(got));
  EXPECT_EQ(got, 2U);
}

TEST_F(Claim, d06_delivery_is_counted_at_the_claim_before_any_user_code) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  EXPECT_EQ(worker.take().delivery, 1);
  EXPECT_EQ(job(sql, id, "delivery_count"), "1");
  sql.run("select millrace.retire_worker($1, $2::uuid)", pg::params(worker.id(), worker.process()));
  const auto again = Worker(sql, "w2").take();
  EXPECT_EQ(again.delivery, 2);
  EXPECT_EQ(again.attempt, 1) << "a delivery that was handed back charges nothing";
}

TEST_F(Claim, d14_claim_tells_the_attempt_budget_in_force) {
  sql.run("select millrace.set_job_type('typed', '{\"max_attempts\": 3}')");
  enqueue(sql);
  enqueue(sql, "{}", "typed");
  enqueue(sql, R"({"max_attempts": 2})", "typed");
  Worker worker(sql);
  std::vector<std::int64_t> budgets;
  for (const auto row :
       sql.rows("select max_attempts from millrace.claim_jobs($1, $2::uuid, 'default', 10) "
                "order by max_attempts",
                pg::params(worker.id(), worker.process()))) {
    budgets.push_back(row.i64(0));
  }
  EXPECT_EQ(budgets, (std::vector<std::int64_t>{2, 3, 12}));
}

TEST_F(Claim, paused_queue_hands_out_nothing_and_resumes_where_it_was) {
  const auto ids = enqueue_many(sql, 2);
  Worker worker(sql);
  const auto held = worker.take();
  sql.run("select millrace.pause_queue('default', 'repair')");
  EXPECT_EQ(worker.claim(5).size(), 0U);
  EXPECT_EQ(worker.claim(5, {.marks = marks_of(held)}).size(), 0U);
  EXPECT_EQ(worker.complete(held), "settled") << "running jobs go on";
  sql.run("select millrace.resume_queue('default')");
  EXPECT_EQ(worker.take().id, ids[1]);
}

TEST_F(Claim, concurrent_claimers_share_every_job_exactly_once) {
  constexpr int kJobs = 400;
  enqueue_many(sql, kJobs);
  std::vector<std::vector<std::string>> got(6);
  together(6, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    Worker worker(mine, fmt::format("w{}", i));
    while (!failed) {
      const auto held = worker.claim(7);
      if (held.empty() && mine.number("select count(*) from millrace.ready") == 0) break;
      for (const auto& delivery : held) {
        got[static_cast<std::size_t>(i)].push_back(delivery.id);
        worker.complete(delivery);
      }
    }
  });
  std::set<std::string> once;
  std::size_t all = 0;
  for (const auto& ids : got) {
    all += ids.size();
    once.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all, static_cast<std::size_t>(kJobs));
  EXPECT_EQ(once.size(), static_cast<std::size_t>(kJobs));
  EXPECT_EQ(imbalance(sql), "");
}

}  // namespace
}  // namespace millrace::test
