// The keeper's duties: election, promotion, expiry, the way out of every waiting state, and the
// order of locks.
#include "sql/engine.h"

#include <set>

namespace millrace::test {
namespace {

using Keeper = EngineTest;

// --- Election ---

TEST_F(Keeper, one_holder_at_a_time_until_its_lease_ends_or_it_resigns) {
  stop_clock(sql);
  const auto elect = [&](const char* holder) {
    return sql.yes("select millrace.elect('keeper', $1, '10 s')", pg::params(holder));
  };
  EXPECT_TRUE(elect("a"));
  EXPECT_FALSE(elect("b"));
  pass(sql, "9 seconds");
  EXPECT_TRUE(elect("a")) << "renewed";
  pass(sql, "10 seconds");
  EXPECT_FALSE(elect("b"));
  pass(sql, "1 millisecond");
  EXPECT_TRUE(elect("b"));
  EXPECT_FALSE(elect("a"));
  EXPECT_FALSE(sql.yes("select millrace.resign('keeper', 'a')"));
  EXPECT_TRUE(sql.yes("select millrace.resign('keeper', 'b')"));
  EXPECT_TRUE(elect("a"));
}

TEST_F(Keeper, concurrent_candidates_elect_exactly_one) {
  std::vector<std::string> won(6);
  together(6, [&](int i, const std::atomic<bool>&) {
    Session mine(database);
    won[static_cast<std::size_t>(i)] = mine.value("select millrace.elect('keeper', $1, '1 hour')",
                                                  pg::params(fmt::format("k{}", i)));
  });
  EXPECT_EQ(std::count(won.begin(), won.end(), "t"), 1);
}

// --- Promotion and expiry ---

TEST_F(Keeper, promotion_is_bounded_and_goes_by_due_time) {
  stop_clock(sql);
  const auto third = enqueue(sql, R"({"delay_seconds": 30})");
  const auto first = enqueue(sql, R"({"delay_seconds": 10})");
  const auto second = enqueue(sql, R"({"delay_seconds": 20})");
  pass(sql, "30 seconds");
  EXPECT_EQ(sql.number("select millrace.promote_due(2)"), 2);
  Worker worker(sql);
  EXPECT_EQ(ids_of(worker.claim(10)), (std::vector{first, second}));
  EXPECT_EQ(sql.number("select millrace.promote_due(2)"), 1);
  EXPECT_EQ(worker.take().id, third);
}

TEST_F(Keeper, promotion_steps_over_a_row_that_somebody_holds) {
  const auto held = enqueue(sql, R"({"delay_seconds": 1})");
  const auto free = enqueue(sql, R"({"delay_seconds": 2})");
  pass(sql, "1 minute");
  Session other(database);
  must(other.connection().begin());
  other.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(held));
  sql.run("set lock_timeout = '10s'");
  EXPECT_EQ(sql.number("select millrace.promote_due(100)"), 1);
  must(other.connection().commit());
  EXPECT_EQ(status(sql, held), "cancelled");
  EXPECT_EQ(sql.value("select job_id from millrace.ready"), free);
}

TEST_F(Keeper, a_start_deadline_expires_what_has_not_started_wherever_it_waits) {
  stop_clock(sql);
  const auto ready = enqueue(sql, R"({"start_within_seconds": 60})");
  const auto delayed = enqueue(sql, R"({"start_within_seconds": 60, "delay_seconds": 30})");
  const auto parked = enqueue_many(sql, 2, R"({"start_within_seconds": 60, "serial_key": "k"})")[1];
  const auto relaxed = enqueue(sql);
  pass(sql, "60 seconds");
  EXPECT_EQ(sql.number("select millrace.expire_waiting(1)"), 2) << "the limit holds per place";
  keep(sql);
  for (const auto& id : {ready, delayed, parked}) {
    EXPECT_EQ(status(sql, id), "failed");
    EXPECT_EQ(job(sql, id, "reason"), "expired");
    EXPECT_EQ(job(sql, id, "attempt"), "0");
  }
  EXPECT_EQ(status(sql, relaxed), "pending");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Keeper, a_late_job_is_never_handed_out_even_before_the_keeper_finds_it) {
  stop_clock(sql);
  const auto late = enqueue(sql, R"({"start_within_seconds": 60})");
  const auto fine = enqueue(sql);
  Worker worker(sql);
  pass(sql, "60 seconds");
  EXPECT_EQ(ids_of(worker.claim(10)), std::vector{fine});
  EXPECT_EQ(status(sql, late), "failed");
}

TEST_F(Keeper, a_job_that_started_in_time_may_retry_after_its_start_deadline) {
  const auto id = enqueue(sql, R"({"start_within_seconds": 60})");
  Worker worker(sql);
  worker.settle(worker.take(), "retry");
  pass(sql, "2 minutes");
  keep(sql);
  EXPECT_EQ(worker.complete(worker.take()), "settled");
  EXPECT_EQ(status(sql, id), "completed");
}

// --- A way out of every state ---

// One job in every non-final state; then only the keeper, the clock and a worker that completes
// what it gets.
TEST_F(Keeper, a10_from_every_state_a_final_one_is_reached_with_no_human_action) {
  set_queue(sql, "default", R"({"key_concurrency_max": 1, "reclaim_jitter": 0})");
  Worker dead(sql, "dead", kShortLived);
  enqueue(sql);
  dead.take();  // Processing, and its process dies.
  Worker worker(sql);
  enqueue(sql, R"({"run_timeout_seconds": 10})");
  worker.take();  // Processing, and it hangs in a process that lives.
  enqueue(sql);
  worker.settle(worker.take(), "retry");
  enqueue(sql);
  worker.settle(worker.take(), "blocked");
  enqueue(sql);
  worker.settle(worker.take(), "throttled");
  enqueue_many(sql, 3, R"({"concurrency_key": "c"})");
  worker.claim(10);  // Its holder hangs too; the others are parked.
  enqueue_many(sql, 3, R"({"serial_key": "s"})");
  const auto last = enqueue(sql, R"({"delay_seconds": 3600})");
  enqueue(sql, fmt::format(R"({{"after": {{"jobs": ["{}"]}}}})", last));
  enqueue(sql, fmt::format(R"({{"after": {{"jobs": ["{}"], "mode": "any"}}}})", last));
  enqueue(sql, R"({"start_within_seconds": 5, "queue": "system"})");  // Nobody serves that queue.
  enqueue(sql);
  sql.run("update millrace.ready set suspect_count = 3 where flags = 0 and queue_id = 1");

  EXPECT_EQ(sql.number("select count(distinct reason) from millrace.delayed"),
            sql.number("select count(*) from unnest(enum_range(null::millrace.wait_reason))"))
      << "a new way to wait needs its way out: add it here";
  const auto all = sql.number("select count(*) from millrace.job_fact");

  for (int hour = 0; hour < 12; ++hour) {
    pass(sql, "20 minutes");
    worker.beat();
    for (int round = 0; round < 6; ++round) {
      keep(sql);
      for (const auto& delivery : worker.claim(10)) worker.complete(delivery);
      for (const auto& delivery : worker.claim(1, {.alone = true})) worker.complete(delivery);
    }
  }
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history"), all);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Keeper, c10_every_status_but_the_final_ones_is_a_place_that_duties_or_claims_look_at) {
  EXPECT_EQ(
      sql.value(
          "select string_agg(s::text, ',') from unnest(enum_range(null::millrace.job_status)) s"),
      "pending,processing,completed,failed,cancelled,retrying,deferred");
  Worker worker(sql);
  std::set<std::string> seen;
  const auto look = [&](const std::string& id) { seen.insert(status(sql, id)); };
  auto id = enqueue(sql);
  look(id);
  auto delivery = worker.take();
  look(id);
  worker.settle(delivery, "retry");
  look(id);
  pass(sql, "1 hour");
  keep(sql);
  worker.settle(worker.take(), "blocked");
  look(id);
  pass(sql, "1 hour");
  keep(sql);
  worker.complete(worker.take());
  look(id);
  EXPECT_EQ(seen,
            (std::set<std::string>{"pending", "processing", "retrying", "deferred", "completed"}));
}

// --- Counters ---

TEST_F(Keeper, k12_folding_changes_no_count_also_while_others_write) {
  std::atomic<int> writing = 2;
  together(4, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    if (i < 2) {
      Worker worker(mine, fmt::format("w{}", i));
      for (int n = 0; n < 20; ++n) {
        enqueue_many(mine, 3);
        for (const auto& delivery : worker.claim(2)) worker.complete(delivery);
      }
      --writing;
    } else {
      while (!failed && writing > 0) mine.run("select millrace.fold_counters()");
    }
  });
  EXPECT_EQ(imbalance(sql), "");
  while (sql.number("select millrace.fold_counters()") > 0) {
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.counter_delta"), 0);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Keeper, k12_reconcile_finds_and_corrects_a_wrong_counter_and_says_so) {
  enqueue_many(sql, 3);
  EXPECT_EQ(sql.value("select millrace.reconcile(1000) ->> 'corrected'"), "0");
  sql.run(
      "insert into millrace.counter_delta (queue_id, tenant_id, ready) "
      "select queue_id, tenant_id, 5 from millrace.job_place limit 1");
  EXPECT_NE(imbalance(sql), "");
  EXPECT_EQ(sql.value("select millrace.reconcile(1000) ->> 'corrected'"), "1");
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'counter.corrected'"), 1);
  sql.run(
      "insert into millrace.counter_delta (queue_id, tenant_id, enqueued) "
      "select queue_id, tenant_id, 1 from millrace.job_place limit 1");
  EXPECT_EQ(sql.value("select millrace.reconcile(1000) ->> 'identity_broken'"), "1");
  EXPECT_EQ(sql.value("select millrace.reconcile(2) ->> 'checked'"), "false")
      << "too many to count";
}

TEST_F(Keeper, horizon_names_the_session_that_holds_it) {
  Session reader(database);
  must(reader.connection().begin());
  reader.run("set transaction isolation level repeatable read");
  reader.number("select count(*) from millrace.ready");
  EXPECT_TRUE(
      sql.yes("select exists (select from millrace.horizon() where kind = 'session' and pid = $1)",
              pg::params(reader.connection().backend_pid())));
  must(reader.connection().rollback());
}

// --- Locks ---

// Every verb on several jobs takes their leases in the order of the ids, whatever order the caller
// names. While the first is locked by somebody else, none may hold the second.
TEST_F(Keeper, lock_order_of_every_verb_is_by_job_id) {
  struct Verb {
    std::string name;
    std::string sql;  // $1 the higher id, $2 its token, $3 the lower id, $4 its token.
  };
  const std::vector<Verb> verbs = {
      {"complete",
       "select * from millrace.complete_jobs('w1', array[$1, $3]::uuid[], array[$2, $4]::uuid[])"},
      {"settle with effects",
       "select * from millrace.settle_jobs('w1', jsonb_build_array("
       "jsonb_build_object('job_id', $1::text, 'token', $2::text, 'outcome', 'ok', 'effects', "
       "'{\"events\": []}'::jsonb), "
       "jsonb_build_object('job_id', $3::text, 'token', $4::text, 'outcome', 'ok', 'effects', "
       "'{\"events\": []}'::jsonb)))"},
      {"settle mixed",
       "select * from millrace.settle_jobs('w1', jsonb_build_array("
       "jsonb_build_object('job_id', $1::text, 'token', $2::text, 'outcome', 'ok', 'effects', "
       "'{\"events\": []}'::jsonb), "
       "jsonb_build_object('job_id', $3::text, 'token', $4::text, 'outcome', 'retry')))"},
      {"extend",
       "select * from millrace.extend_leases('w1', array[$1, $3]::uuid[], array[$2, $4]::uuid[], "
       "1000)"},
      {"progress",
       "select * from millrace.report_progress('w1', jsonb_build_array("
       "jsonb_build_object('job_id', $1::text, 'token', $2::text, 'progress', 1), "
       "jsonb_build_object('job_id', $3::text, 'token', $4::text, 'progress', 1)))"},
      {"cancel",
       "select a.* from (select $2::text, $4::text) u, millrace.cancel_jobs(array[$1, $3]::uuid[]) "
       "a"},
      {"hand back",
       "select millrace.hand_back_leases('w1', process) from millrace.lease where job_id in "
       "($1::uuid, $3::uuid) "
       "and token in ($2::uuid, $4::uuid) limit 1"},
  };
  for (const auto& verb : verbs) {
    SCOPED_TRACE(verb.name);
    const TestDatabase world;
    Session mine(world);
    enqueue_many(mine, 2);
    Worker worker(mine);
    auto held = worker.claim(2);
    std::sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    Session blocker(world);
    must(blocker.connection().begin());
    blocker.run("select from millrace.lease where job_id = $1::uuid for update",
                pg::params(held[0].id));
    {
      std::jthread calling([&] {
        mine.run(verb.sql, pg::params(held[1].id, held[1].token, held[0].id, held[0].token));
      });
      Session observer(world);
      while (!observer.yes(
          "select exists (select from pg_stat_activity where wait_event_type = 'Lock' "
          "and datname = current_database())")) {
      }
      EXPECT_EQ(observer.number(
                    "select count(*) from (select from millrace.lease where job_id = $1::uuid "
                    "for update skip locked) l",
                    pg::params(held[1].id)),
                1)
          << "it holds the higher id while it waits for the lower one";
      must(blocker.connection().rollback());
    }
  }
}

// Settlements, cancellations, extensions and sweeps of the same jobs in clashing orders: nobody
// deadlocks.
TEST_F(Keeper, lock_order_lets_settle_cancel_and_reclaim_meet_on_the_same_jobs) {
  set_queue(sql, "default",
            R"({"backoff_base": 0, "backoff_cap": 0, "reclaim_jitter": 0, "max_attempts": 1000})");
  enqueue_many(sql, 40);
  Worker worker(sql);
  std::atomic<int> rounds = 0;
  constexpr int kRounds = 25;
  together(4, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    while (!failed && rounds < kRounds) {
      if (i == 0) {
        sql.run("select millrace.promote_due(100)");
        const auto held = worker.claim(40);
        std::string settlements;
        for (auto it = held.rbegin(); it != held.rend(); ++it) {  // From the highest id down.
          settlements += fmt::format(
              R"({}{{"job_id": "{}", "token": "{}", "outcome": "retry", "effects": {{"events": []}}}})",
              settlements.empty() ? "" : ",", it->id, it->token);
        }
        sql.run("select * from millrace.settle_jobs('w1', $1::jsonb)",
                pg::params("[" + settlements + "]"));
        ++rounds;
      } else if (i == 1) {
        // A request to cancel is taken back, so that the jobs live on.
        must(mine.connection().begin());
        mine.run("select * from millrace.cancel_jobs(array(select job_id from millrace.lease))");
        must(mine.connection().rollback());
      } else if (i == 2) {
        mine.run(
            "select * from millrace.extend_leases('w1', array(select job_id from millrace.lease "
            "order by "
            "random()), array(select token from millrace.lease), 60000)");
      } else {
        mine.run(
            "select millrace.reclaim(100), millrace.expire_waiting(100), millrace.advance(100)");
      }
    }
  });
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history"), 0);
}

}  // namespace
}  // namespace millrace::test
