// Keys while jobs run: the order of a serial key, and the number at once of a queue or a
// concurrency key.
#include "base/random.h"
#include "sql/engine.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace millrace::test {
namespace {

using Keys = EngineTest;

std::string serial(const std::string& key) { return fmt::format(R"({{"serial_key": "{}"}})", key); }
std::string keyed(const std::string& key) {
  return fmt::format(R"({{"concurrency_key": "{}"}})", key);
}

// Retries are due at once, so that only the order holds a job back.
void retry_at_once(Session& sql) {
  set_queue(sql, "default",
            R"({"backoff_base": 0, "backoff_cap": 0, "reclaim_jitter": 0, "max_attempts": 1000})");
}

// --- Serial keys ---

TEST_F(Keys, serial_jobs_run_one_after_another_in_the_order_enqueued) {
  const auto a = enqueue_many(sql, 3, serial("a"));
  const auto b = enqueue(sql, serial("b"));
  Worker worker(sql);
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) {
    for (const auto& delivery : worker.claim(10)) {
      order.push_back(delivery.id);
      worker.complete(delivery);
    }
    keep(sql);
  }
  EXPECT_EQ(order, (std::vector{a[0], b, a[1], a[2]}));
}

TEST_F(Keys, serial_head_stays_first_while_it_retries) {
  retry_at_once(sql);
  const auto ids = enqueue_many(sql, 2, serial("k"));
  Worker worker(sql);
  for (int i = 0; i < 3; ++i) {
    const auto held = worker.claim(10);
    ASSERT_EQ(ids_of(held), std::vector{ids[0]}) << "round " << i;
    worker.settle(held[0], "retry");
    keep(sql);
  }
  // Also while it waits for a later time.
  worker.settle(worker.take(), "throttled", R"({"retry_after_seconds": 600})");
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U);
  pass(sql, "601 seconds");
  keep(sql);
  EXPECT_EQ(worker.complete(worker.take()), "settled");
  keep(sql);
  EXPECT_EQ(worker.take().id, ids[1]);
}

TEST_F(Keys, serial_order_survives_the_death_of_the_worker) {
  retry_at_once(sql);
  const auto ids = enqueue_many(sql, 2, serial("k"));
  Worker dead(sql, "dead", kShortLived);
  ASSERT_EQ(dead.take().id, ids[0]);
  pass(sql, "31 seconds");
  keep(sql);
  Worker worker(sql);
  EXPECT_EQ(ids_of(worker.claim(10)), std::vector{ids[0]});
}

TEST_F(Keys, serial_key_goes_on_after_cancel_failure_and_expiry) {
  const auto ids = enqueue_many(sql, 4, serial("k"));
  Worker worker(sql);
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[0]));
  keep(sql);
  const auto second = worker.take();
  ASSERT_EQ(second.id, ids[1]);
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[2]));
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U) << "cancelling one that waits frees nothing";
  worker.settle(second, "permanent");
  keep(sql);
  EXPECT_EQ(worker.take().id, ids[3]);
}

TEST_F(Keys, serial_job_redriven_goes_before_later_ones_but_never_beside_one) {
  const auto ids = enqueue_many(sql, 3, serial("k"));
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  keep(sql);
  const auto second = worker.take();
  ASSERT_EQ(second.id, ids[1]);
  sql.run(
      "select * from millrace.redrive_jobs(jsonb_build_object('job_ids', "
      "jsonb_build_array($1::text)))",
      pg::params(ids[0]));
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U) << "the second one runs";
  worker.complete(second);
  keep(sql);
  const auto next = worker.claim(10);
  ASSERT_EQ(ids_of(next), std::vector{ids[0]});
  worker.complete(next[0]);
  keep(sql);
  EXPECT_EQ(worker.take().id, ids[2]);
}

TEST_F(Keys, serial_keys_of_tenants_and_queues_do_not_meet) {
  set_queue(sql, "other", "{}");
  enqueue(sql, serial("k"));
  enqueue(sql, R"({"serial_key": "k", "queue": "other"})");
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  enqueue(sql, serial("k"));
  as_tenant(sql, "");
  Worker worker(sql);
  EXPECT_EQ(worker.claim(10).size(), 2U);
  EXPECT_EQ(worker.claim(10, {.queue = "other"}).size(), 1U);
}

// The earlier job commits late: the later one runs already, then retries. Both must get on.
TEST_F(Keys, serial_job_that_commits_late_is_let_in_when_the_other_retries) {
  retry_at_once(sql);
  Session slow(database);
  must(slow.connection().begin());
  const auto earlier = enqueue(slow, serial("k"));
  const auto later = enqueue(sql, serial("k"));
  Worker worker(sql);
  const auto held = worker.take();
  ASSERT_EQ(held.id, later);
  must(slow.connection().commit());
  EXPECT_EQ(worker.claim(10).size(), 0U) << "never two of a key at once";
  worker.settle(held, "retry");
  keep(sql);
  const auto first = worker.claim(10);
  ASSERT_EQ(ids_of(first), std::vector{earlier});
  worker.complete(first[0]);
  keep(sql);
  EXPECT_EQ(worker.take().id, later);
}

TEST_F(Keys, a_key_that_another_claim_judges_is_passed_by_without_waiting) {
  set_queue(sql, "default", R"({"key_concurrency_max": 5})");
  enqueue_many(sql, 2, keyed("k"));
  const auto plain = enqueue(sql);
  Session other(database);
  other.run("set lock_timeout = '10s'");
  Worker first(sql, "first");
  Worker second(other, "second");
  must(sql.connection().begin());
  ASSERT_EQ(first.claim(1).size(), 1U);
  EXPECT_EQ(ids_of(second.claim(10)), std::vector{plain});
  must(sql.connection().commit());
  EXPECT_EQ(second.claim(10).size(), 1U) << "it was left in its place";
}

TEST_F(Keys, whoever_claims_jobs_with_keys_stands_in_line) {
  set_queue(sql, "default", R"({"key_concurrency_max": 5})");
  enqueue_many(sql, 2, keyed("k"));
  Session other(database);
  Worker first(sql, "first");
  Worker second(other, "second");
  must(sql.connection().begin());
  ASSERT_EQ(first.claim(1).size(), 1U);
  std::atomic<bool> done = false;
  std::size_t got = 0;
  bool waited = false;
  {
    std::jthread claiming([&] {
      got = second.claim(10).size();
      done = true;
    });
    Session observer(database);
    while (!waited && !done) {
      waited = observer.yes(
          "select exists (select from pg_stat_activity where wait_event_type = 'Lock' "
          "and datname = current_database())");
    }
    must(sql.connection().commit());
  }
  EXPECT_TRUE(waited);
  EXPECT_EQ(got + second.claim(10).size(), 1U);
}

TEST_F(Keys, the_first_of_a_serial_key_runs_wherever_it_stands_in_line) {
  enqueue_many(sql, 2, R"({"serial_key": "s"})");
  const auto first = sql.value("select job_id from millrace.job_fact order by seq limit 1");
  sql.run("select millrace.promote_rows(array(select job_id from millrace.delayed))");
  sql.run("update millrace.ready set ready_seq = nextval('millrace.ready_seq') where job_id = '" +
          first + "'");
  Worker worker(sql, "worker");
  EXPECT_EQ(ids_of(worker.claim(10)), std::vector{first});
}

// Three producers and three workers at once, with retries and hand-backs: never two deliveries of
// one key, and each producer's jobs of a key end in the order it enqueued them.
TEST_F(Keys, serial_order_holds_under_concurrent_producers_workers_and_retries) {
  constexpr int kProducers = 3;
  constexpr int kWorkers = 3;
  constexpr int kEach = 24;
  retry_at_once(sql);
  struct Job {
    std::string key;
    int producer = 0;
    int number = 0;
  };
  std::mutex mutex;  // Guards the four below.
  std::map<std::string, Job> jobs;
  std::map<std::string, std::string> running;             // Key to job.
  std::map<std::pair<std::string, int>, int> last_ended;  // Of key and producer.
  std::vector<std::string> violations;
  std::atomic<int> ended = 0;

  together(kProducers + kWorkers + 1, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    if (i < kProducers) {
      for (int n = 1; n <= kEach; ++n) {
        const Job job{fmt::format("k{}", n % 2), i, n};
        const auto id = mine.value("select millrace.new_id()");
        {
          const std::lock_guard lock(mutex);
          jobs[id] = job;
        }
        enqueue(mine, fmt::format(R"({{"id": "{}", "serial_key": "{}"}})", id, job.key));
      }
    } else if (i < kProducers + kWorkers) {
      Worker worker(mine, fmt::format("w{}", i));
      SeededRandom random(static_cast<std::uint64_t>(i));
      while (!failed && ended < kProducers * kEach) {
        for (const auto& delivery : worker.claim(4)) {
          const auto dice = random.next() % 4;
          const std::string outcome = dice == 0 ? "retry" : dice == 1 ? "handback" : "ok";
          {
            const std::lock_guard lock(mutex);
            const auto& job = jobs[delivery.id];
            if (const auto other = running.find(job.key); other != running.end()) {
              violations.push_back(fmt::format("{} beside {}", delivery.id, other->second));
            }
            running[job.key] = delivery.id;
          }
          worker.beat();  // Work, as far as the others can see.
          {
            // From here on another worker may get the key as soon as the settlement commits.
            const std::lock_guard lock(mutex);
            const auto& job = jobs[delivery.id];
            running.erase(job.key);
            if (outcome == "ok") {
              auto& last = last_ended[{job.key, job.producer}];
              if (job.number <= last) violations.push_back(fmt::format("{} too late", delivery.id));
              last = job.number;
            }
          }
          if (worker.settle(delivery, outcome) != "settled") violations.push_back("lost");
          if (outcome == "ok") ++ended;
        }
      }
    } else {
      while (!failed && ended < kProducers * kEach) {
        mine.run("select millrace.promote_due(100), millrace.advance(100)");
      }
    }
  });
  EXPECT_EQ(violations, std::vector<std::string>{});
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(sql.number("select count(*) from millrace.serial_member"), 0);
}

// --- Concurrency of a queue ---

// Workers that claim and complete until `jobs` have ended; the highest number seen running at once,
// of all and of one key.
struct Peak {
  int all = 0;
  int key = 0;
};
Peak peak_of(const TestDatabase& database, int jobs, int workers) {
  std::mutex mutex;  // Guards peak, running and by_key.
  Peak peak;
  int running = 0;
  std::map<std::string, int> by_key;
  std::atomic<int> ended = 0;
  together(workers + 1, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    if (i == workers) {
      while (!failed && ended < jobs)
        mine.run("select millrace.advance(100), millrace.promote_due(100)");
      return;
    }
    Worker worker(mine, fmt::format("w{}", i));
    while (!failed && ended < jobs) {
      const auto held = worker.claim(3);
      std::map<std::string, std::string> keys;
      for (const auto& delivery : held) {
        keys[delivery.id] = job(mine, delivery.id, "concurrency_key");
      }
      {
        const std::lock_guard lock(mutex);
        running += static_cast<int>(held.size());
        peak.all = std::max(peak.all, running);
        for (const auto& [id, key] : keys) peak.key = std::max(peak.key, ++by_key[key]);
      }
      for (const auto& delivery : held) {
        {
          const std::lock_guard lock(mutex);
          --running;
          --by_key[keys[delivery.id]];
        }
        worker.complete(delivery);
        ++ended;
      }
    }
  });
  return peak;
}

TEST_F(Keys, c13_concurrency_max_holds_under_concurrent_claimers) {
  set_queue(sql, "default", R"({"concurrency_max": 4})");
  enqueue_many(sql, 300);
  const auto peak = peak_of(database, 300, 6);
  EXPECT_LE(peak.all, 4);
  EXPECT_GE(peak.all, 2) << "several did run at once";
  EXPECT_EQ(imbalance(sql), "");
}

// A claimer whose look at the slots began before another's commit sees the slot free and the
// other's lease not yet; it must look again once it has the slot locked.
TEST_F(Keys, c13_a_slot_is_judged_again_after_it_is_locked) {
  set_queue(sql, "default", R"({"concurrency_max": 1})");
  enqueue_many(sql, 3);
  Worker first(sql, "first");
  first.complete(first.take());  // The slot exists and is free.
  Stop stop(database, "queue_slot", "update");
  Session slow(database);
  stop.stops(slow);
  Worker second(slow, "second");

  std::size_t got = 99;
  {
    std::jthread claiming([&] { got = second.claim(1).size(); });
    stop.wait_until_stopped();
    EXPECT_EQ(first.claim(1).size(), 1U);
    stop.go_on();
  }
  EXPECT_EQ(got, 0U);
  EXPECT_EQ(places(sql), "ready 1, delayed 0, leased 1");
}

TEST_F(Keys, c13_slots_of_a_dead_worker_come_back_with_its_leases) {
  set_queue(sql, "default", R"({"concurrency_max": 3, "reclaim_jitter": 0})");
  enqueue_many(sql, 6);
  Worker dead(sql, "dead", kShortLived);
  ASSERT_EQ(dead.claim(10).size(), 3U);
  Worker worker(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U);
  pass(sql, "31 seconds");
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 3U);
  EXPECT_EQ(worker.claim(10).size(), 0U);
}

TEST_F(Keys, c13_a_changed_concurrency_max_counts_from_the_next_claim) {
  set_queue(sql, "default", R"({"concurrency_max": 0})");
  enqueue_many(sql, 10);
  Worker worker(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U);
  set_queue(sql, "default", R"({"concurrency_max": 4})");
  const auto held = worker.claim(10);
  EXPECT_EQ(held.size(), 4U);
  set_queue(sql, "default", R"({"concurrency_max": 2})");
  worker.complete(held[0]);
  worker.complete(held[1]);
  EXPECT_LE(worker.claim(10).size(), 2U);
  set_queue(sql, "default", R"({"concurrency_max": null})");
  EXPECT_GE(worker.claim(10).size(), 4U);
}

// Jobs in slots above a limit that was lowered hold none of those below it.
TEST_F(Keys, c13_a_lowered_concurrency_max_counts_all_that_run) {
  set_queue(sql, "default", R"({"concurrency_max": 5})");
  enqueue_many(sql, 20);
  Worker worker(sql);
  const auto held = worker.claim(10);
  ASSERT_EQ(held.size(), 5U);
  set_queue(sql, "default", R"({"concurrency_max": 3})");
  worker.complete(held[0]);
  EXPECT_EQ(worker.claim(10).size(), 0U) << "four run";
  worker.complete(held[1]);
  EXPECT_EQ(worker.claim(10).size(), 0U) << "three run";
  worker.complete(held[2]);
  EXPECT_EQ(worker.claim(10).size(), 1U);
  EXPECT_EQ(worker.claim(10).size(), 0U);
  worker.complete(held[3]);
  worker.complete(held[4]);
  EXPECT_EQ(worker.claim(10).size(), 2U) << "all of them are in slots of the limit";
  EXPECT_EQ(places(sql), "ready 12, delayed 0, leased 3");
}

TEST_F(Keys, c13_a_lowered_concurrency_max_is_no_race) {
  set_queue(sql, "default", R"({"concurrency_max": 5})");
  enqueue_many(sql, 20);
  Worker first(sql, "first");
  const auto held = first.claim(10);
  ASSERT_EQ(held.size(), 5U);
  set_queue(sql, "default", R"({"concurrency_max": 3})");
  for (const int n : {0, 1, 2}) first.complete(held[n]);
  Session other(database);
  Worker second(other, "second");
  sql.script("begin");
  EXPECT_EQ(first.claim(10).size(), 1U);
  EXPECT_EQ(second.claim(10).size(), 0U) << "another slot is free, but no more may run";
  sql.script("commit");
  EXPECT_EQ(second.claim(10).size(), 0U);
  EXPECT_EQ(places(sql), "ready 14, delayed 0, leased 3");
}

// --- Concurrency of a key ---

TEST_F(Keys, key_concurrency_holds_under_concurrent_claimers) {
  set_queue(sql, "default", R"({"key_concurrency_max": 2})");
  for (const char* key : {"a", "b", "c"}) enqueue_many(sql, 60, keyed(key));
  const auto peak = peak_of(database, 180, 6);
  EXPECT_LE(peak.key, 2);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Keys, work_of_a_busy_key_does_not_hold_up_what_stands_behind_it) {
  set_queue(sql, "default", R"({"key_concurrency_max": 1})");
  enqueue_many(sql, 90, keyed("k"));
  const auto free = enqueue(sql);
  Worker worker(sql);
  EXPECT_NE(worker.take().id, free);
  EXPECT_EQ(worker.take().id, free) << "the first claim behind the busy key finds it";
  EXPECT_EQ(places(sql), "ready 0, delayed 89, leased 2");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Keys, c12_work_of_a_busy_key_is_parked_and_not_looked_at_again) {
  set_queue(sql, "default", R"({"key_concurrency_max": 1})");
  const auto ids = enqueue_many(sql, 3, keyed("k"));
  const auto free = enqueue(sql);
  Worker worker(sql);
  const auto held = worker.claim(10);
  EXPECT_EQ(ids_of(held), (std::vector{ids[0], free}));
  EXPECT_EQ(places(sql), "ready 0, delayed 2, leased 2");
  EXPECT_EQ(status(sql, ids[1]), "pending");
  worker.complete(held[0]);
  sql.run("select millrace.advance(100)");
  EXPECT_EQ(places(sql), "ready 1, delayed 1, leased 1") << "one place is free: one comes back";
  EXPECT_EQ(worker.take().id, ids[1]);
}

TEST_F(Keys, parked_work_of_a_key_follows_a_raised_limit) {
  set_queue(sql, "default", R"({"key_concurrency_max": 1})");
  enqueue_many(sql, 4, keyed("k"));
  Worker worker(sql);
  worker.claim(10);
  set_queue(sql, "default", R"({"key_concurrency_max": 3})");
  sql.run("select millrace.reconcile(1000)");
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 2U);
  set_queue(sql, "default", R"({"key_concurrency_max": null})");
  sql.run("select millrace.reconcile(1000)");
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 1U);
}

TEST_F(Keys, a_cancelled_or_dead_holder_frees_its_key) {
  set_queue(sql, "default", R"({"key_concurrency_max": 1, "reclaim_jitter": 0})");
  const auto ids = enqueue_many(sql, 3, keyed("k"));
  Worker dead(sql, "dead", kShortLived);
  ASSERT_EQ(dead.claim(10).size(), 1U);
  Worker worker(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U);
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[0]));
  pass(sql, "31 seconds");
  keep(sql);
  EXPECT_EQ(status(sql, ids[0]), "cancelled");
  EXPECT_EQ(worker.take().id, ids[1]);
}

}  // namespace
}  // namespace millrace::test
