// Settling: the fence, what each class of outcome means, budgets, and effects that commit with it.
#include "sql/engine.h"

#include <cmath>

namespace millrace::test {
namespace {

using Settle = EngineTest;

std::string evidence(Session& sql) {
  return sql.value(
      "select format('audit %s, events %s, history %s, attempts %s, deltas %s', "
      "(select count(*) from millrace.audit), (select count(*) from millrace.event), "
      "(select count(*) from millrace.job_history), (select count(*) from millrace.attempt), "
      "(select count(*) from millrace.counter_delta))");
}

// --- The fence ---

// The worker that got the job next has the same name (as all instances of one service had): only
// the token tells the two deliveries apart.
TEST_F(Settle, b01_stale_completion_changes_nothing) {
  const auto id = enqueue(sql);
  Worker paused(sql, "shared", kShortLived);
  const auto old = paused.take();
  pass(sql, "1 minute");
  keep(sql);
  pass(sql, "1 minute");
  keep(sql);
  Worker next(sql, "shared");
  const auto current = next.take();
  ASSERT_EQ(current.id, id);
  const auto before = evidence(sql);

  EXPECT_EQ(paused.complete(old), "lease_lost");
  EXPECT_EQ(paused.settle(old, "ok", R"({"result": {"late": true}})"), "lease_lost");
  EXPECT_EQ(paused.settle(old, "permanent"), "lease_lost");
  EXPECT_EQ(evidence(sql), before);
  EXPECT_EQ(status(sql, id), "processing");
  EXPECT_EQ(next.complete(current), "settled");
  EXPECT_EQ(job(sql, id, "result"), "(null)");
}

TEST_F(Settle, b01_the_last_lost_delivery_cannot_complete_the_dead_job) {
  const auto id = enqueue(sql, R"({"max_attempts": 1})");
  Worker paused(sql, "paused", kShortLived);
  const auto delivery = paused.take();
  pass(sql, "1 minute");
  keep(sql);
  ASSERT_EQ(status(sql, id), "failed");
  EXPECT_EQ(paused.complete(delivery), "lease_lost") << "its output was not accepted";
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "exceeded_max_retries_after_timeout");
}

TEST_F(Settle, b01_a_lost_delivery_of_a_cancelled_job_is_told_so) {
  const auto id = enqueue(sql);
  Worker paused(sql, "paused", kShortLived);
  const auto delivery = paused.take();
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(id));
  pass(sql, "1 minute");
  keep(sql);
  ASSERT_EQ(status(sql, id), "cancelled");
  EXPECT_EQ(paused.complete(delivery), "cancelled");
  EXPECT_EQ(status(sql, id), "cancelled");
}

TEST_F(Settle, b02_unknown_ids_and_stale_callers_leave_no_evidence) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  auto delivery = worker.take();
  const auto before = evidence(sql);
  const Delivery unknown{.id = "00000000-0000-4000-8000-00000000dead", .token = delivery.token};
  EXPECT_EQ(worker.complete(unknown), "not_found");
  const Delivery forged{.id = id, .token = "00000000-0000-4000-8000-00000000dead"};
  EXPECT_EQ(worker.complete(forged), "lease_lost");
  EXPECT_EQ(evidence(sql), before);
}

TEST_F(Settle, b03_token_and_worker_must_both_match) {
  enqueue(sql);
  Worker holder(sql, "holder");
  Worker stranger(sql, "stranger");
  const auto delivery = holder.take();
  EXPECT_EQ(stranger.complete(delivery), "lease_lost");
  EXPECT_EQ(stranger.settle(delivery, "handback"), "lease_lost");
  EXPECT_EQ(holder.complete(delivery), "settled");
}

TEST_F(Settle, b07_snooze_needs_the_token_and_cannot_revive_a_finished_job) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  const Delivery forged{.id = id, .token = "00000000-0000-4000-8000-00000000dead"};
  EXPECT_EQ(worker.settle(forged, "throttled"), "lease_lost");
  EXPECT_EQ(worker.complete(delivery), "settled");
  EXPECT_EQ(worker.settle(delivery, "throttled"), "already_settled");
  EXPECT_EQ(status(sql, id), "completed");
}

TEST_F(Settle, b12_a_second_completion_finds_the_first_and_keeps_its_result) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  EXPECT_EQ(worker.settle(delivery, "ok", R"({"result": {"answer": 1}})"), "settled");
  EXPECT_EQ(worker.settle(delivery, "ok", R"({"result": {"answer": 2}})"), "already_settled");
  EXPECT_EQ(worker.complete(delivery), "already_settled");
  EXPECT_EQ(job(sql, id, "result"), R"({"answer": 1})");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history"), 1);
}

TEST_F(Settle, d07_a_repeated_retry_after_a_lost_answer_is_charged_once) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  EXPECT_EQ(worker.settle(delivery, "retry"), "settled");
  EXPECT_EQ(worker.settle(delivery, "retry"), "already_settled");
  EXPECT_EQ(job(sql, id, "attempt"), "1");
}

TEST_F(Settle, b16_tokens_stay_distinct_when_sequences_fall_back) {
  const auto id = enqueue(sql);
  Worker old_primary(sql, "shared", kShortLived);
  const auto before = old_primary.take();
  pass(sql, "1 minute");
  sql.run("select millrace.reclaim(10)");
  // What a standby that missed the last commits looks like: every number is given out again.
  sql.run("select setval('millrace.ready_seq', 1, false)");
  pass(sql, "1 minute");
  keep(sql);
  Worker promoted(sql, "shared");
  const auto after = promoted.take();
  ASSERT_EQ(after.id, id);
  EXPECT_NE(after.token, before.token);
  EXPECT_EQ(old_primary.complete(before), "lease_lost");
  EXPECT_EQ(status(sql, id), "processing");
}

TEST_F(Settle, d04_a_job_that_nobody_claimed_cannot_be_settled) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const Delivery never{.id = id, .token = "00000000-0000-4000-8000-00000000dead"};
  for (const char* outcome : {"ok", "retry", "permanent", "cancelled", "handback"}) {
    EXPECT_EQ(worker.settle(never, outcome), "lease_lost");
  }
  EXPECT_EQ(status(sql, id), "pending");
  EXPECT_EQ(worker.take().delivery, 1);
}

TEST_F(Settle, one_stale_job_of_a_call_disturbs_none_of_the_others) {
  enqueue_many(sql, 3);
  Worker worker(sql);
  auto held = worker.claim(3);
  const auto forged_token = "00000000-0000-4000-8000-00000000dead";
  const auto rows = sql.rows(
      "select answer from millrace.complete_jobs($1, array[$2, $3, $4]::uuid[], "
      "array[$5, $6, $7]::uuid[])",
      pg::params(worker.id(), held[0].id, held[1].id, held[2].id, held[0].token, forged_token,
                 held[2].token));
  EXPECT_EQ(rows[0].text(0), "settled");
  EXPECT_EQ(rows[1].text(0), "lease_lost");
  EXPECT_EQ(rows[2].text(0), "settled");
}

TEST_F(Settle, a_delivery_named_twice_in_one_call_is_settled_once) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  const auto rows = sql.rows(
      "select answer from millrace.settle_jobs($1, jsonb_build_array("
      "jsonb_build_object('job_id', $2::text, 'token', $3::text, 'outcome', 'ok', 'result', 1), "
      "jsonb_build_object('job_id', $2::text, 'token', $3::text, 'outcome', 'retry'), "
      "jsonb_build_object('job_id', $2::text, 'token', $4::text, 'outcome', 'permanent')))",
      pg::params(worker.id(), delivery.id, delivery.token, "00000000-0000-4000-8000-00000000dead"));
  EXPECT_EQ(rows[0].text(0), "settled");
  EXPECT_EQ(rows[1].text(0), "settled");
  EXPECT_EQ(rows[2].text(0), "lease_lost") << "another token is another delivery";
  EXPECT_EQ(job(sql, id, "result"), "1") << "the outcome named first counts";
  EXPECT_EQ(imbalance(sql), "");
}

// --- Classes of outcome ---

TEST_F(Settle, ok_completes_with_result_and_full_progress) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  EXPECT_EQ(worker.settle(worker.take(), "ok", R"({"result": {"pages": 3}})"), "settled");
  EXPECT_EQ(status(sql, id), "completed");
  EXPECT_EQ(job(sql, id, "result"), R"({"pages": 3})");
  EXPECT_EQ(job(sql, id, "progress"), "100");
  EXPECT_EQ(job(sql, id, "attempt"), "1");
  EXPECT_EQ(job(sql, id, "error"), "(null)");
}

TEST_F(Settle, d01_retry_shows_retrying_with_its_error_and_never_failed) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  stop_clock(sql);
  EXPECT_EQ(worker.settle(worker.take(), "retry", R"({"error": {"message": "no route"}})"),
            "settled");
  EXPECT_EQ(status(sql, id), "retrying");
  EXPECT_EQ(job(sql, id, "attempt"), "1");
  EXPECT_EQ(sql.value("select millrace.get_job($1::uuid) #>> '{attempts,0,error,message}'",
                      pg::params(id)),
            "no route");
  EXPECT_TRUE(
      sql.yes("select due_at - delayed_at between '15 s' and '30 s' from millrace.delayed"));
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history"), 0);
}

TEST_F(Settle, d02_a_delay_the_outside_asked_for_is_honoured) {
  Worker worker(sql);
  stop_clock(sql);
  const auto due_after = [&](const std::string& outcome, const std::string& more) {
    enqueue(sql);
    worker.settle(worker.take(), outcome, more);
    const auto seconds = sql.value(
        "delete from millrace.delayed returning extract(epoch from due_at - delayed_at)::integer");
    return seconds;
  };
  EXPECT_EQ(due_after("retry", R"({"retry_after_seconds": 777})"), "777");
  EXPECT_EQ(due_after("throttled", R"({"retry_after_seconds": 90})"), "90");
  EXPECT_EQ(due_after("blocked", R"({"retry_after_seconds": 5})"), "5");
  EXPECT_EQ(due_after("blocked", "{}"), "60");
  // Not sane: the queue's own backoff applies.
  for (const char* odd : {"-1", "86401", "1e300"}) {
    const auto seconds =
        std::stoi(due_after("retry", fmt::format(R"({{"retry_after_seconds": {}}})", odd)));
    EXPECT_GE(seconds, 15) << odd;
    EXPECT_LE(seconds, 30) << odd;
  }
}

TEST_F(Settle, throttled_is_free_and_counts_as_snooze) {
  const auto id = enqueue(sql, R"({"max_attempts": 1})");
  Worker worker(sql);
  EXPECT_EQ(worker.settle(worker.take(), "throttled"), "settled");
  EXPECT_EQ(status(sql, id), "pending");
  EXPECT_EQ(job(sql, id, "attempt"), "0");
  EXPECT_EQ(sql.value("select snooze_count from millrace.delayed"), "1");
  EXPECT_EQ(sql.value("select charged from millrace.attempt"), "f");
}

TEST_F(Settle, blocked_defers_without_charge_and_comes_back_by_itself) {
  const auto id = enqueue(sql, R"({"max_attempts": 1})");
  Worker worker(sql);
  worker.settle(worker.take(), "blocked", R"({"error": {"message": "maintenance"}})");
  EXPECT_EQ(status(sql, id), "deferred");
  pass(sql, "61 seconds");
  keep(sql);
  EXPECT_EQ(worker.complete(worker.take()), "settled");
}

TEST_F(Settle, permanent_is_dead_at_once_with_its_reason) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent",
                R"({"error": {"message": "no such file", "reason": "missing_input"}})");
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "missing_input");
  EXPECT_NE(job(sql, id, "dead_letter_at"), "(null)");
  EXPECT_EQ(sql.value("select millrace.get_job($1::uuid) #>> '{attempts,0,error,final_worker}'",
                      pg::params(id)),
            "w1");
}

TEST_F(Settle, partial_keeps_its_parts_for_the_next_delivery) {
  enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "partial", R"({"parts": {"done": [1, 2]}})");
  pass(sql, "1 minute");
  keep(sql);
  const auto rows = sql.rows(
      "select attempt, carry from millrace.claim_jobs($1, $2::uuid, "
      "'default', 1)",
      pg::params(worker.id(), worker.process()));
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows[0].i64(0), 2);
  EXPECT_EQ(rows[0].text(1), R"({"done": [1, 2]})");
}

TEST_F(Settle, cancelled_by_its_handler_ends_cancelled) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "cancelled", R"({"error": {"reason": "user left"}})");
  EXPECT_EQ(status(sql, id), "cancelled");
  EXPECT_EQ(job(sql, id, "reason"), "user left");
}

TEST_F(Settle, b15_handback_keeps_its_place_and_charges_nothing) {
  const auto ids = enqueue_many(sql, 3, R"({"max_attempts": 1})");
  Worker worker(sql);
  const auto held = worker.claim(2);
  EXPECT_EQ(worker.settle(held[0], "handback"), "settled");
  EXPECT_EQ(job(sql, ids[0], "attempt"), "0");
  EXPECT_EQ(status(sql, ids[0]), "pending");
  EXPECT_EQ(sql.number("select count(*) from millrace.attempt"), 0);
  EXPECT_EQ(ids_of(worker.claim(2)), (std::vector{ids[0], ids[2]}));
  EXPECT_EQ(worker.settle(held[0], "ok"), "lease_lost");
}

TEST_F(Settle, start_deadline_holds_again_after_a_handback) {
  stop_clock(sql);
  const auto id = enqueue(sql, R"({"start_within_seconds": 60})");
  Worker worker(sql);
  worker.settle(worker.take(), "handback");
  pass(sql, "61 seconds");
  EXPECT_EQ(worker.claim(1).size(), 0U);
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "expired");
}

TEST_F(Settle, a11_every_malformed_settlement_is_refused_by_field_and_changes_nothing) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  const auto refused = [&](const std::string& settlements) {
    return sql.refused("select * from millrace.settle_jobs('w1', $1::jsonb)",
                       pg::params(settlements));
  };
  const auto item = [&](const std::string& more) {
    return fmt::format(R"([{{"job_id": "{}", "token": "{}", "outcome": "ok"{}}}])", id,
                       delivery.token, more);
  };
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"{}", "array"},
      {"[1]", "object"},
      {R"([{"token": "x", "outcome": "ok"}])", "job_id"},
      {fmt::format(R"([{{"job_id": "{}", "token": "x", "outcome": "ok"}}])", id), "token"},
      {item(R"(, "outcome": "done")"), "outcome"},
      {item(R"(, "retry_after_seconds": "soon")"), "retry_after_seconds"},
      {item(R"(, "actual_tokens": "many")"), "actual_tokens"},
      {item(R"(, "error": "text")"), "error"},
      {item(R"(, "crash": "yes")"), "crash"},
  };
  for (const auto& [settlements, field] : bad) {
    const auto error = refused(settlements);
    EXPECT_EQ(error.sqlstate, "MR016") << settlements;
    EXPECT_NE(error.message.find(field), std::string::npos) << error.message;
  }
  EXPECT_EQ(sql.refused("select * from millrace.complete_jobs('w1', array[$1::uuid], '{}')",
                        pg::params(id))
                .sqlstate,
            "MR016");
  EXPECT_EQ(worker.complete(delivery), "settled");
}

// --- Budgets ---

TEST_F(Settle, d03_attempts_end_in_failed_exactly_at_the_budget) {
  const auto id = enqueue(sql, R"({"max_attempts": 3})");
  Worker worker(sql);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const auto delivery = worker.take();
    EXPECT_EQ(delivery.attempt, attempt);
    worker.settle(delivery, "retry",
                  fmt::format(R"({{"error": {{"message": "try {}"}}}})", attempt));
    pass(sql, "1 hour");
    keep(sql);
  }
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "exceeded_max_retries");
  EXPECT_EQ(job(sql, id, "attempt"), "3");
  EXPECT_EQ(job(sql, id, "delivery_count"), "3");
}

TEST_F(Settle, d12_every_failed_attempt_keeps_its_own_error) {
  const auto id = enqueue(sql, R"({"max_attempts": 2})");
  Worker worker(sql);
  worker.settle(worker.take(), "retry", R"({"error": {"message": "first", "code": 1}})");
  pass(sql, "1 hour");
  keep(sql);
  worker.settle(worker.take(), "retry", R"({"error": {"message": "second"}})");
  EXPECT_EQ(sql.value("select string_agg(error ->> 'message', ',' order by attempt_seq) from "
                      "millrace.attempt where job_id = $1::uuid",
                      pg::params(id)),
            "first,second");
  EXPECT_EQ(sql.refused("update millrace.attempt set error = null").sqlstate, "MR022");
}

TEST_F(Settle, d05_snoozes_end_by_their_number) {
  set_queue(sql, "default", R"({"max_snoozes": 2})");
  const auto id = enqueue(sql);
  Worker worker(sql);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status(sql, id), "pending");
    worker.settle(worker.take(), "throttled");
    pass(sql, "10 minutes");
    keep(sql);
  }
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "expired");
  EXPECT_EQ(job(sql, id, "attempt"), "0");
}

TEST_F(Settle, d05_snoozes_end_by_age) {
  set_queue(sql, "default", R"({"max_age": "1 hour"})");
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "blocked", R"({"retry_after_seconds": 3500})");
  pass(sql, "3550 seconds");
  keep(sql);
  worker.settle(worker.take(), "throttled", R"({"retry_after_seconds": 100})");
  EXPECT_EQ(status(sql, id), "pending") << "not old enough yet";
  pass(sql, "101 seconds");
  keep(sql);
  worker.settle(worker.take(), "throttled");
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "expired");
}

TEST_F(Settle, d05_a_job_planned_for_later_ages_from_its_due_time) {
  set_queue(sql, "default", R"({"max_age": "1 hour"})");
  const auto id = enqueue(sql, R"({"delay_seconds": 7200})");
  pass(sql, "7201 seconds");
  keep(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "throttled");
  EXPECT_EQ(status(sql, id), "pending");
}

TEST_F(Settle, d06_three_crashes_of_the_handler_are_poison) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(status(sql, id), "failed");
    worker.settle(worker.take(), "retry", R"({"crash": true, "error": {"message": "signal 11"}})");
    pass(sql, "1 hour");
    keep(sql);
  }
  EXPECT_EQ(status(sql, id), "failed");
  EXPECT_EQ(job(sql, id, "reason"), "poison");
}

TEST_F(Settle, d06_failures_without_a_crash_are_never_poison) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  for (int i = 0; i < 5; ++i) {
    worker.settle(worker.take(), "retry");
    pass(sql, "1 hour");
    keep(sql);
  }
  EXPECT_EQ(status(sql, id), "pending");
  EXPECT_EQ(sql.value("select crash_count from millrace.ready"), "0");
}

TEST_F(Settle, d08_backoff_stays_within_its_cap_at_any_attempt) {
  set_queue(sql, "default",
            R"({"backoff_base": "15 s", "backoff_factor": 100, "backoff_cap": "1 h",
                "jitter_low": 1, "jitter_high": 1, "max_attempts": 1000})");
  const auto delays = sql.value(
      "select string_agg(extract(epoch from millrace.backoff_delay(q.queue_id, n))::integer::text, "
      "',' "
      "order by n) from millrace.queue q, unnest(array[1, 2, 7, 40, 65, 1000]) n "
      "where q.queue = 'default'");
  EXPECT_EQ(delays, "15,1500,3600,3600,3600,3600");
}

TEST_F(Settle, d09_jitter_covers_its_whole_range_evenly) {
  // export: 60 s, +-20 %.
  const auto row = sql.rows(
      "select min(d), max(d), avg(d), count(distinct d) from (select extract(epoch from "
      "millrace.backoff_delay(q.queue_id, 1))::float8 as d from millrace.queue q, "
      "generate_series(1, 2000) where q.queue = 'export') x");
  EXPECT_GE(row[0].f64(0), 48.0);
  EXPECT_LT(row[0].f64(0), 50.0);
  EXPECT_LE(row[0].f64(1), 72.0);
  EXPECT_GT(row[0].f64(1), 70.0);
  EXPECT_NEAR(row[0].f64(2), 60.0, 1.5);  // Nearly ten standard deviations of the mean.
  EXPECT_GT(row[0].i64(3), 1990);
}

// --- Results and effects ---

TEST_F(Settle, result_over_256_kib_fails_for_good_and_says_why) {
  const auto ids = enqueue_many(sql, 2);
  Worker worker(sql);
  const auto held = worker.claim(2);
  const auto text = std::string(262'144, 'x');
  EXPECT_EQ(worker.settle(held[0], "ok", fmt::format(R"({{"result": "{}"}})", text)), "settled");
  EXPECT_EQ(status(sql, ids[0]), "failed");
  EXPECT_EQ(job(sql, ids[0], "reason"), "result_too_large");
  EXPECT_EQ(job(sql, ids[0], "result"), "(null)");
  const auto rows = sql.rows(
      "select answer from millrace.complete_jobs('w1', array[$1::uuid], array[$2::uuid], "
      "jsonb_build_array($3::text))",
      pg::params(held[1].id, held[1].token, text));
  EXPECT_EQ(rows[0].text(0), "settled");
  EXPECT_EQ(status(sql, ids[1]), "failed");
}

TEST_F(Settle, b13_effects_commit_with_the_fence_and_only_with_it) {
  const auto id = enqueue(sql, R"({"correlation_id": "c-9"})");
  Worker worker(sql, "w1", kShortLived);
  const auto delivery = worker.take();
  const std::string effects = R"({"result": {"n": 1}, "effects": {
      "jobs": [{"job_type": "noop", "payload": {"step": 2}},
               {"job_type": "sleep", "payload": {"step": 3}, "delay_seconds": 60}],
      "events": [{"kind": "page.done", "data": {"page": 1}}]}})";

  // A process that dies before the commit leaves nothing.
  must(sql.connection().begin());
  EXPECT_EQ(worker.settle(delivery, "ok", effects), "settled");
  must(sql.connection().rollback());
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
  EXPECT_EQ(status(sql, id), "processing");

  EXPECT_EQ(worker.settle(delivery, "ok", effects), "settled");
  EXPECT_EQ(worker.settle(delivery, "ok", effects), "already_settled");
  EXPECT_EQ(status(sql, id), "completed");
  EXPECT_EQ(sql.value("select string_agg(payload ->> 'step', ',' order by seq) from "
                      "millrace.job_fact where parent_id = $1::uuid and correlation_id = 'c-9'",
                      pg::params(id)),
            "2,3");
  EXPECT_EQ(sql.value("select data ->> 'page' from millrace.event where kind = 'page.done'"), "1");
}

// Whoever follows the job hears of nothing behind its end.
TEST_F(Settle, events_of_a_handler_come_before_the_end_of_its_job) {
  const auto id = enqueue(sql);
  Worker worker(sql, "w1", kShortLived);
  EXPECT_EQ(worker.settle(worker.take(), "ok",
                          R"({"effects": {"events": [{"kind": "page.done", "data": {"page": 1}},
                                                     {"kind": "page.done", "data": {"page": 2}}]}})"),
            "settled");
  EXPECT_EQ(sql.value("select string_agg(kind || coalesce(' ' || (data ->> 'page'), ''), ',' "
                      "order by xid, event_id) from millrace.event "
                      "where $1::uuid = any (job_ids) and kind !~ 'enqueued|claimed'",
                      pg::params(id)),
            "page.done 1,page.done 2,job.completed");
}

// With such a kind a handler could tell that a job has ended which has not.
TEST_F(Settle, a_handler_does_not_speak_for_the_engine) {
  Worker worker(sql, "w1", kShortLived);
  for (const auto* kind : {"job.completed", "batch.finished", "job.note"}) {
    const auto id = enqueue(sql);
    EXPECT_EQ(
        worker.settle(worker.take(), "retry",
                      fmt::format(R"({{"effects": {{"events": [{{"kind": "{}"}}]}}}})", kind)),
        "replaced");
    EXPECT_EQ(status(sql, id), "failed");
    EXPECT_EQ(job(sql, id, "reason"), "invalid_effects");
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind in ('job.completed', "
                       "'batch.finished', 'job.note')"),
            0);
}

TEST_F(Settle, b13_a_stale_delivery_has_no_effects) {
  enqueue(sql);
  Worker worker(sql, "w1", kShortLived);
  const auto delivery = worker.take();
  pass(sql, "1 minute");
  keep(sql);
  EXPECT_EQ(worker.settle(delivery, "ok",
                          R"({"effects": {"jobs": [{"job_type": "noop", "payload": {"x": 1}}],
                                          "events": [{"kind": "late"}]}})"),
            "lease_lost");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'late'"), 0);
}

TEST_F(Settle, b13_an_effect_that_cannot_be_written_fails_its_own_job_only) {
  enqueue_many(sql, 3);
  Worker worker(sql);
  const auto held = worker.claim(3);
  const auto rows = sql.rows(
      "select answer from millrace.settle_jobs('w1', jsonb_build_array("
      "jsonb_build_object('job_id', $1::text, 'token', $2::text, 'outcome', 'ok'), "
      "jsonb_build_object('job_id', $3::text, 'token', $4::text, 'outcome', 'ok', 'effects', "
      "  '{\"jobs\": [{\"job_type\": \"noop\", \"payload\": {\"x\": 1}}, "
      "               {\"job_type\": \"unheard_of\", \"payload\": {\"x\": 1}}]}'::jsonb), "
      "jsonb_build_object('job_id', $5::text, 'token', $6::text, 'outcome', 'ok', 'effects', "
      "  '{\"jobs\": []}'::jsonb)))",
      pg::params(held[0].id, held[0].token, held[1].id, held[1].token, held[2].id, held[2].token));
  int replaced = 0;
  for (const auto row : rows) replaced += row.text(0) == "replaced" ? 1 : 0;
  EXPECT_EQ(replaced, 1) << "who sent the outcome must learn that it got another one";
  EXPECT_EQ(status(sql, held[0].id), "completed");
  EXPECT_EQ(status(sql, held[1].id), "failed");
  EXPECT_EQ(job(sql, held[1].id, "reason"), "invalid_effects");
  EXPECT_EQ(status(sql, held[2].id), "completed") << "no follow-up jobs is a fine list";
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 3) << "all of a list or nothing";
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Settle, b13_an_effect_refused_for_the_moment_is_retried) {
  enqueue_many(sql, 1);
  Worker worker(sql);
  const auto held = worker.take();
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  EXPECT_EQ(worker.settle(held, "ok",
                          R"({"effects": {"jobs": [{"job_type": "noop", "payload": {"x": 1}}]}})"),
            "replaced");
  EXPECT_EQ(status(sql, held.id), "retrying");
}

// The job leaves as its follow-ups come: to refuse them would stop the work that empties the queue.
TEST_F(Settle, e11_follow_up_jobs_are_let_into_a_full_queue) {
  set_queue(sql, "full", R"({"depth_max": 0})");
  enqueue_many(sql, 1);
  Worker worker(sql);
  const auto held = worker.take();
  EXPECT_EQ(worker.settle(held, "ok",
                          R"({"effects": {"jobs": [{"job_type": "noop", "payload": {"x": 1},
                                                    "queue": "full"}]}})"),
            "settled");
  EXPECT_EQ(status(sql, held.id), "completed");
  EXPECT_EQ(
      sql.number("select count(*) from millrace.job_place r join millrace.queue q using (queue_id) "
                 "where q.queue = 'full'"),
      1);
}

TEST_F(Settle, g10_events_carry_ids_and_never_payloads) {
  Worker worker(sql);
  for (const char* options : {"{}", kInReady}) {
    const auto id =
        sql.value("select millrace.enqueue_job('noop', '{\"secret\": \"swordfish\"}', $1::jsonb)",
                  pg::params(options));
    worker.settle(worker.take(), "ok", R"({"result": {"answer": "swordfish"}})");
    EXPECT_GE(sql.number("select count(*) from millrace.event where $1::uuid = any (job_ids)",
                         pg::params(id)),
              3);
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.event e where e::text like '%swordfish%'"),
            0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit a where a::text like '%swordfish%'"),
            0);
}

}  // namespace
}  // namespace millrace::test
