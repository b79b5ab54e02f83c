// Lanes: plain jobs are claimed and completed by the stretch. No job is passed over or handed out
// twice, whatever the order of commits, and whoever acts on a single job finds it.
#include "sql/engine.h"
#include "sql/lane_worker.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace millrace::test {
namespace {

using Lane = EngineTest;

std::string claim_of(const Delivery& delivery) { return delivery.token.substr(0, 32) + "0000"; }

std::int64_t in_ready(Session& sql) { return sql.number("select count(*) from millrace.ready"); }
std::int64_t in_lease(Session& sql) { return sql.number("select count(*) from millrace.lease"); }

// Two that enqueue the first jobs at the same time do not meet in it: one of them makes it.
void make_lane(Session& sql) {
  enqueue(sql);
  LaneWorker worker(sql, "first");
  ASSERT_EQ(worker.complete_claim(worker.claim_lanes(1)), "1");
}

TEST_F(Lane, plain_jobs_have_no_row_but_their_fact) {
  const auto ids = enqueue_many(sql, 5);
  const auto single = enqueue(sql);
  EXPECT_EQ(in_ready(sql), 0);
  EXPECT_EQ(places(sql), "ready 6, delayed 0, leased 0");
  EXPECT_EQ(status(sql, ids[2]), "pending");
  EXPECT_EQ(imbalance(sql), "");
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(4);
  EXPECT_EQ(ids_of(held), std::vector(ids.begin(), ids.begin() + 4)) << "in the order given";
  EXPECT_EQ(in_lease(sql), 0);
  EXPECT_EQ(status(sql, ids[0]), "processing");
  EXPECT_EQ(job(sql, ids[0], "worker_id"), "w1");
  EXPECT_EQ(worker.complete_claim({held[0], held[2]}), "1010");
  EXPECT_EQ(status(sql, ids[0]), "completed");
  EXPECT_EQ(status(sql, ids[1]), "processing");
  EXPECT_EQ(places(sql), "ready 2, delayed 0, leased 2");
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(worker.complete_claim({held[1], held[3]}), "0101");
  EXPECT_EQ(sql.number("select count(*) from millrace.claim_open"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history"), 0);
  EXPECT_EQ(ids_of(worker.claim_lanes(10)), (std::vector{ids[4], single}));
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, jobs_that_need_more_than_a_turn_lie_in_ready) {
  for (const char* options :
       {R"({"dedupe_key": "k"})", R"({"serial_key": "s"})", R"({"concurrency_key": "c"})",
        R"({"max_attempts": 2})", R"({"start_within_seconds": 60})",
        R"({"owner_id": "aaaaaaaa-0000-4000-8000-000000000001"})"}) {
    enqueue(sql, options);
  }
  EXPECT_EQ(in_ready(sql), 6);
  enqueue(sql, R"({"priority": 9, "job_name": "n", "correlation_id": "c", "stage": "s"})");
  enqueue(sql, R"({"id": "01990000-0000-7000-8000-000000000001"})");
  EXPECT_EQ(in_ready(sql), 6);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, b05_a_job_that_commits_late_is_read_when_it_is_there) {
  make_lane(sql);
  Session other(database);
  other.run("begin");
  const auto late = enqueue_many(other, 10);
  const auto early = enqueue(sql);
  LaneWorker worker(sql);
  EXPECT_EQ(ids_of(worker.claim_lanes(100)), std::vector{early});
  EXPECT_EQ(worker.claim_lanes(100).size(), 0U) << "nobody sees it yet";
  const auto between = enqueue(sql);
  other.run("commit");
  const auto first = ids_of(worker.claim_lanes(4));
  EXPECT_EQ(first, std::vector(late.begin(), late.begin() + 4)) << "oldest first, and only so many";
  auto rest = ids_of(worker.claim_lanes(4));
  for (const auto& id : ids_of(worker.claim_lanes(4))) rest.push_back(id);
  auto wanted = std::vector(late.begin() + 4, late.end());
  wanted.push_back(between);
  EXPECT_EQ(rest, wanted);
  EXPECT_EQ(worker.claim_lanes(4).size(), 0U);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, b05_a_producer_that_rolls_back_leaves_nothing_behind) {
  make_lane(sql);
  Session other(database);
  other.run("begin");
  const auto writer = other.value("select pg_current_xact_id()");
  enqueue_many(other, 3);
  enqueue(sql);
  LaneWorker worker(sql);
  EXPECT_EQ(worker.claim_lanes(100).size(), 1U);
  other.run("rollback");
  EXPECT_EQ(worker.claim_lanes(100).size(), 0U);
  const auto next = enqueue(sql);
  EXPECT_EQ(ids_of(worker.claim_lanes(100)), std::vector{next});
  EXPECT_EQ(sql.number("select count(*) from millrace.lane_head where $1::xid8 = any (late_xids)",
                       pg::params(writer)),
            0)
      << "and is forgotten";
}

TEST_F(Lane, a_lane_that_another_transaction_makes_is_not_waited_for) {
  Session other(database);
  other.run("begin");
  const auto hidden = enqueue(other);
  const auto id = enqueue(sql);
  EXPECT_EQ(in_ready(sql), 1);
  other.run("commit");
  LaneWorker worker(sql);
  auto got = ids_of(worker.claim_lanes(10));
  std::ranges::sort(got);
  auto wanted = std::vector{hidden, id};
  std::ranges::sort(wanted);
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(imbalance(sql), "");
}

// Producers that take their time, commit or roll back, and claimers on all sides.
TEST_F(Lane, b01_every_job_is_handed_out_exactly_once) {
  constexpr int kProducers = 4;
  constexpr int kWorkers = 4;
  std::mutex mutex;
  std::set<std::string> created;
  std::map<std::string, int> delivered;
  std::atomic<int> producing = kProducers;
  together(kProducers + kWorkers, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    std::mt19937 random(static_cast<unsigned>(i));
    if (i < kProducers) {
      for (int round = 0; round < 25 && !failed; ++round) {
        mine.run("begin");
        const auto ids = enqueue_many(mine, 1 + static_cast<int>(random() % 20));
        if (random() % 2 == 0) mine.run("select pg_sleep(0.01)");  // A slow producer.
        const bool commits = random() % 5 != 0;
        mine.run(commits ? "commit" : "rollback");
        const std::scoped_lock lock(mutex);
        if (commits) created.insert(ids.begin(), ids.end());
      }
      --producing;
      return;
    }
    LaneWorker worker(mine, fmt::format("w{}", i));
    for (bool last = false; !failed;) {
      const bool ended = producing == 0;
      const auto held = worker.claim_lanes(1 + static_cast<int>(random() % 30));
      {
        const std::scoped_lock lock(mutex);
        for (const auto& delivery : held) ++delivered[delivery.id];
      }
      std::map<std::string, std::vector<Delivery>> claims;
      for (const auto& delivery : held) {
        if (delivery.token[14] == '8') {
          claims[claim_of(delivery)].push_back(delivery);
        } else {
          EXPECT_EQ(worker.complete(delivery), "settled");
        }
      }
      for (const auto& [claim, all] : claims) {
        EXPECT_EQ(worker.complete_claim(all), std::string(all.size(), '1'));
      }
      if (last && held.empty()) return;
      last = ended && held.empty();
    }
  });
  EXPECT_EQ(delivered.size(), created.size());
  for (const auto& [id, times] : delivered) {
    EXPECT_EQ(times, 1) << id;
    EXPECT_TRUE(created.contains(id)) << id;
  }
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, b09_the_fence_counts_what_an_expired_process_gets_accepted) {
  const auto ids = enqueue_many(sql, 3);
  LaneWorker dead(sql, "dead", kShortLived);
  const auto held = dead.claim_lanes(3);
  EXPECT_EQ(dead.complete_claim({held[0]}), "100");
  pass(sql, "60 seconds");
  EXPECT_EQ(sql.number("select millrace.reclaim(100)"), 2);
  EXPECT_EQ(dead.complete_claim(held), "(null)") << "nothing accepted";
  EXPECT_EQ(dead.complete(held[1]), "lease_lost");
  EXPECT_EQ(dead.complete(held[0]), "already_settled");
  EXPECT_EQ(dead.settle(held[2], "permanent"), "lease_lost");
  EXPECT_EQ(places(sql), "ready 0, delayed 2, leased 0");
  EXPECT_EQ(status(sql, ids[1]), "retrying");
  EXPECT_EQ(job(sql, ids[1], "attempt"), "1");
  pass(sql, "1 hour");
  keep(sql);
  LaneWorker next(sql, "next");
  EXPECT_EQ(next.claim_lanes(10).size(), 2U);
  EXPECT_EQ(sql.value("select string_agg(suspect_count::text, ',') from millrace.lease"), "1,1");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, nobody_settles_the_claim_of_another) {
  enqueue_many(sql, 2);
  LaneWorker one(sql, "one");
  LaneWorker two(sql, "two");
  const auto held = one.claim_lanes(2);
  EXPECT_EQ(two.complete_claim(held), "(null)");
  EXPECT_EQ(two.complete(held[0]), "lease_lost");
  EXPECT_EQ(one.complete_bits(claim_of(held[0]), "111"), "00") << "bits that do not fit";
  EXPECT_EQ(one.complete_bits("00000000-0000-8000-8000-000000020000", "11"), "(null)");
  Delivery wrong = held[0];
  wrong.id = held[1].id;
  EXPECT_EQ(one.complete(wrong), "lease_lost") << "a token of another job";
  EXPECT_EQ(one.complete_claim(held), "11");
  EXPECT_EQ(one.complete_claim(held), "(null)") << "a repeat changes nothing";
  EXPECT_EQ(one.complete(held[1]), "already_settled") << "and finds its success";
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, a_claim_is_named_once) {
  enqueue_many(sql, 2);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(2);
  EXPECT_EQ(sql.refused(fmt::format("select millrace.complete_claims('w1', array['{0}', '{0}']::"
                                    "uuid[], array['11', '11']::bit varying[])",
                                    claim_of(held[0])))
                .sqlstate,
            "MR016");
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 2");
}

TEST_F(Lane, b01_progress_with_a_stale_token_beside_the_right_one_changes_nothing) {
  const auto id = enqueue(sql);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(1);
  const auto answers = sql.value(fmt::format(
      "select string_agg(r.answer, ' ' order by r.answer) from millrace.report_progress('w1', "
      "'[{{\"job_id\": \"{0}\", \"token\": \"{1}\", \"progress\": 10}}, {{\"job_id\": \"{0}\", "
      "\"token\": \"00000000-0000-4000-8000-00000000dead\", \"progress\": 90}}]') r",
      id, held[0].token));
  EXPECT_EQ(answers, "lease_lost settled");
  EXPECT_EQ(sql.number("select progress from millrace.lease"), 10);
}

TEST_F(Lane, every_outcome_works_from_a_claim) {
  const auto ids = enqueue_many(sql, 6);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(6);
  EXPECT_EQ(worker.settle(held[0], "retry", R"({"error": {"error_type": "x"}})"), "settled");
  EXPECT_EQ(worker.settle(held[1], "permanent"), "settled");
  EXPECT_EQ(worker.settle(held[2], "throttled", R"({"retry_after_seconds": 5})"), "settled");
  EXPECT_EQ(worker.settle(held[3], "handback"), "settled");
  EXPECT_EQ(worker.settle(held[4], "ok", R"({"result": {"pages": 3}})"), "settled");
  EXPECT_EQ(worker.settle(held[5], "ok", R"({"effects": {"jobs": [{"job_type": "noop",
                                           "payload": {"n": 2}, "job_name": "next"}]}})"),
            "settled");
  EXPECT_EQ(status(sql, ids[0]), "retrying");
  EXPECT_EQ(status(sql, ids[1]), "failed");
  EXPECT_EQ(job(sql, ids[2], "attempt"), "0");
  EXPECT_EQ(status(sql, ids[3]), "pending");
  EXPECT_EQ(job(sql, ids[4], "result"), R"({"pages": 3})");
  EXPECT_EQ(places(sql), "ready 2, delayed 2, leased 0");
  EXPECT_EQ(imbalance(sql), "");
  for (const auto& delivery : held) {
    EXPECT_EQ(worker.complete(delivery), delivery.id == ids[3] ? "lease_lost" : "already_settled");
  }
}

TEST_F(Lane, d01_a_waiting_job_is_cancelled_and_passed_over) {
  const auto ids = enqueue_many(sql, 4);
  EXPECT_EQ(
      sql.value("select answer from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[1])),
      "cancelled");
  EXPECT_EQ(status(sql, ids[1]), "cancelled");
  EXPECT_EQ(
      sql.value("select answer from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[1])),
      "already_final");
  EXPECT_EQ(imbalance(sql), "");
  LaneWorker worker(sql);
  EXPECT_EQ(ids_of(worker.claim_lanes(2)), (std::vector{ids[0], ids[2]}));
  EXPECT_EQ(ids_of(worker.claim_lanes(2)), (std::vector{ids[3]}));
  EXPECT_EQ(sql.number("select count(*) from millrace.lane_gap"), 0);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, d01_a_held_job_is_asked_to_stop) {
  const auto ids = enqueue_many(sql, 3);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(3);
  EXPECT_EQ(
      sql.value("select answer from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[1])),
      "cancel_requested");
  EXPECT_EQ(in_lease(sql), 1);
  EXPECT_EQ(sql.value("select millrace.beat_worker($1, $2::uuid) #>> '{cancel,0,token}'",
                      pg::params(worker.id(), worker.process())),
            held[1].token);
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(worker.complete_claim(held), "101");
  EXPECT_EQ(worker.settle(held[1], "retry"), "settled");
  EXPECT_EQ(status(sql, ids[1]), "cancelled");
  EXPECT_EQ(
      sql.value("select answer from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[0])),
      "already_final");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, a_waiting_job_can_be_rescheduled) {
  const auto ids = enqueue_many(sql, 3);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(1);
  const auto reschedule = [&](const std::string& id) {
    return sql.value(
        "select answer from millrace.reschedule_jobs(array[$1::uuid], now() + interval '1 hour')",
        pg::params(id));
  };
  EXPECT_EQ(reschedule(ids[1]), "rescheduled");
  EXPECT_EQ(reschedule(ids[0]), "leased");
  EXPECT_EQ(worker.complete_claim(held), "1") << "it was left where it was";
  EXPECT_EQ(places(sql), "ready 1, delayed 1, leased 0");
  EXPECT_EQ(ids_of(worker.claim_lanes(5)), std::vector{ids[2]});
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, progress_logs_and_extension_give_a_lease_of_its_own) {
  const auto ids = enqueue_many(sql, 4);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(4);
  const auto item = [](const Delivery& delivery, const std::string& more) {
    return fmt::format(R"([{{"job_id": "{}", "token": "{}", {}}}])", delivery.id, delivery.token,
                       more);
  };
  EXPECT_EQ(sql.value("select answer from millrace.report_progress('w1', $1::jsonb)",
                      pg::params(item(held[0], R"("progress": 40)"))),
            "settled");
  EXPECT_EQ(job(sql, ids[0], "progress"), "40");
  EXPECT_EQ(sql.number("select millrace.append_logs('w1', $1::jsonb)",
                       pg::params(item(held[1], R"("message": "hello", "level": "info")"))),
            1);
  EXPECT_EQ(sql.value("select answer from millrace.extend_leases('w1', array[$1::uuid], "
                      "array[$2::uuid], 60000)",
                      pg::params(ids[2], held[2].token)),
            "extended");
  EXPECT_EQ(in_lease(sql), 3);
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(worker.complete_claim(held), "0001");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(worker.complete(held[static_cast<std::size_t>(i)]), "settled");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_place where status = 'completed'"), 4);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, b08_what_a_lost_claim_took_can_be_asked_for_and_goes_back) {
  const auto ids = enqueue_many(sql, 4);
  LaneWorker worker(sql);
  const auto known = worker.claim_lanes(2);
  const auto lost = worker.claim_lanes(2);
  const auto unheld = sql.rows(
      "select job_id, token from millrace.unheld_leases('w1', $1::uuid, array[$2::uuid, $3::uuid])",
      pg::params(worker.process(), known[0].token, known[1].token));
  ASSERT_EQ(unheld.rows(), 2U);
  EXPECT_EQ(unheld[0].text(1), lost[0].token);
  EXPECT_EQ(worker.settle(lost[0], "handback"), "settled");
  EXPECT_EQ(
      sql.number("select millrace.retire_worker('w1', $1::uuid)", pg::params(worker.process())), 3);
  EXPECT_EQ(places(sql), "ready 4, delayed 0, leased 0");
  EXPECT_EQ(sql.number("select sum(attempt) from millrace.job_place"), 0) << "free of charge";
  EXPECT_EQ(imbalance(sql), "");
  LaneWorker next(sql, "next");
  EXPECT_EQ(next.claim_lanes(10).size(), 4U);
}

// Who stands in line takes the lane for as short as can be, and fetches its jobs when it is free.
TEST_F(Lane, c01_a_claim_that_stood_in_line_fetches_its_jobs_afterwards) {
  const auto ids = enqueue_many(sql, 121);
  Session other(database);
  LaneWorker first(sql, "first");
  LaneWorker second(other, "second");
  must(sql.connection().begin());
  ASSERT_EQ(first.claim_lanes(1).size(), 1U);
  std::string token;
  bool bare = false;
  bool waited = false;
  std::atomic<bool> done = false;
  {
    std::jthread claiming([&] {
      const auto rows = other.rows(
          "select token, jobs is null from millrace.claim_jobs($1, $2::uuid, 'default', 120, "
          "p_ranges => true, p_bare => true)",
          pg::params(second.id(), second.process()));
      if (rows.rows() == 1) {
        token = rows[0].text(0);
        bare = rows[0].boolean(1);
      }
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
  ASSERT_TRUE(waited);
  ASSERT_TRUE(bare);
  const auto lines = [&](const std::string& worker) {
    return other.value(
        "select string_agg(left(line, 36), ',' order by n) from string_to_table("
        "millrace.claim_lines($1, $2::uuid), E'\n') with ordinality l(line, n)",
        pg::params(worker, token));
  };
  EXPECT_EQ(lines("second"), fmt::format("{}", fmt::join(ids.begin() + 1, ids.end(), ",")));
  EXPECT_EQ(lines("first"), "(null)") << "the claim is another's";
  EXPECT_EQ(second.complete_bits(token, std::string(120, '1')), std::string(120, '1'));
  EXPECT_EQ(lines("second"), "(null)") << "nothing is held under it any more";
}

TEST_F(Lane, a_limit_that_comes_later_is_obeyed) {
  set_queue(sql, "narrow", "{}");
  enqueue_many(sql, 5, R"({"queue": "narrow"})");
  set_queue(sql, "narrow", R"({"concurrency_max": 2})");
  LaneWorker worker(sql);
  EXPECT_EQ(worker.claim_lanes(10, "narrow").size(), 2U);
  EXPECT_EQ(worker.claim_lanes(10, "narrow").size(), 0U);
  EXPECT_EQ(in_lease(sql), 2);
  EXPECT_EQ(imbalance(sql), "");
}

// What runs under claims, or with leases of its own, when a limit comes holds no slot of it.
TEST_F(Lane, c13_a_limit_that_comes_later_counts_what_runs) {
  set_queue(sql, "narrow", "{}");
  enqueue_many(sql, 10, R"({"queue": "narrow"})");
  LaneWorker worker(sql);
  auto held = worker.claim_lanes(4, "narrow");
  ASSERT_EQ(held.size(), 4U);
  set_queue(sql, "narrow", R"({"concurrency_max": 3})");
  EXPECT_EQ(worker.claim_lanes(10, "narrow").size(), 0U);
  worker.complete(held[0]);
  worker.complete(held[1]);
  EXPECT_EQ(worker.claim_lanes(10, "narrow").size(), 1U);
  EXPECT_EQ(worker.claim_lanes(10, "narrow").size(), 0U);
  worker.complete(held[2]);
  worker.complete(held[3]);
  EXPECT_EQ(worker.claim_lanes(10, "narrow").size(), 2U);
}

TEST_F(Lane, a_paused_queue_is_left_alone) {
  enqueue_many(sql, 2);
  LaneWorker worker(sql);
  sql.run("select millrace.pause_queue('default', 'test')");
  EXPECT_EQ(worker.claim_lanes(10).size(), 0U);
  sql.run("select millrace.resume_queue('default')");
  EXPECT_EQ(worker.claim_lanes(10).size(), 2U);
}

TEST_F(Lane, c05_higher_priority_first_whether_in_a_lane_or_not) {
  const auto low = enqueue(sql, R"({"priority": 1})");
  const auto high = enqueue(sql, R"({"priority": 9})");
  const auto keyed = enqueue(sql, R"({"priority": 5, "serial_key": "s"})");
  LaneWorker worker(sql);
  EXPECT_EQ(ids_of(worker.claim_lanes(10)), (std::vector{high, keyed, low}));
}

TEST_F(Lane, c06_tenants_share_a_claim) {
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  enqueue_many(sql, 100);
  as_tenant(sql, "bbbbbbbb-0000-4000-8000-000000000002");
  const auto quiet = enqueue_many(sql, 5);
  sql.run("reset millrace.tenant_id");
  LaneWorker worker(sql);
  const auto got = ids_of(worker.claim_lanes(20));
  EXPECT_EQ(got.size(), 20U);
  for (const auto& id : quiet) EXPECT_TRUE(std::ranges::find(got, id) != got.end());
}

TEST_F(Lane, sql_claimers_get_the_jobs_one_by_one) {
  const auto ids = enqueue_many(sql, 4);
  Worker worker(sql);
  EXPECT_EQ(ids_of(worker.claim(3)), std::vector(ids.begin(), ids.begin() + 3));
  EXPECT_EQ(in_lease(sql), 3);
  EXPECT_EQ(sql.value("select job_id from millrace.claim_next_job_v3('source')"), ids[3]);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, a_dependent_hears_of_the_end) {
  const auto ids = enqueue_many(sql, 2);
  const auto next =
      enqueue(sql, fmt::format(R"({{"after": {{"jobs": ["{}", "{}"]}}}})", ids[0], ids[1]));
  keep(sql);
  EXPECT_EQ(status(sql, next), "pending");
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(10);
  EXPECT_EQ(ids_of(held), ids);
  EXPECT_EQ(worker.complete_claim({held[0]}), "10");
  keep(sql);
  EXPECT_EQ(worker.claim_lanes(10).size(), 0U);
  EXPECT_EQ(worker.complete_claim({held[1]}), "01");
  keep(sql);
  EXPECT_EQ(ids_of(worker.claim_lanes(10)), std::vector{next});
  const auto after_all = enqueue(sql, fmt::format(R"({{"after": {{"jobs": ["{}"]}}}})", ids[0]));
  keep(sql);
  EXPECT_EQ(ids_of(worker.claim_lanes(10)), std::vector{after_all});
}

TEST_F(Lane, g01_the_audit_tells_the_whole_story) {
  const auto ids = enqueue_many(sql, 3);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(3);
  worker.complete_claim({held[1]});
  worker.settle(held[0], "permanent");
  const auto story = [&](const std::string& id) {
    return sql.value(
        "select string_agg(action || ' ' || jobs, ', ') from millrace.job_audit($1::uuid)",
        pg::params(id));
  };
  EXPECT_EQ(story(ids[0]), "enqueued 3, claimed 3, failed 1");
  EXPECT_EQ(story(ids[1]), "enqueued 3, claimed 3, completed 1");
  EXPECT_EQ(story(ids[2]), "enqueued 3, claimed 3");
  sql.run("select millrace.seal_audit(1000)");
  EXPECT_EQ(sql.number("select count(*) from millrace.verify_audit()"), 0);
  EXPECT_EQ(sql.refused("update millrace.claim set worker_id = 'x'").sqlstate, "MR022");
  EXPECT_EQ(sql.refused("delete from millrace.claim_done").sqlstate, "MR022");
}

TEST_F(Lane, f21_retention_keeps_what_lives_and_what_ended_lately) {
  const auto ids = enqueue_many(sql, 4);
  LaneWorker worker(sql, "w1", R"({"lease_ms": 86400000})");
  const auto early = worker.claim_lanes(1);
  worker.complete_claim(early);
  const auto maintain = [&] {
    while (sql.yes("select (millrace.maintain_partitions() ->> 'more')::boolean")) {
    }
  };
  pass(sql, "20 days");
  const auto held = worker.claim_lanes(2);
  EXPECT_EQ(worker.complete_claim({held[0]}), "10");
  pass(sql, "20 days");
  maintain();
  EXPECT_EQ(sql.refused("select millrace.get_job($1::uuid)", pg::params(ids[0])).sqlstate, "MR009");
  EXPECT_EQ(status(sql, ids[1]), "completed") << "ended less than 30 days ago";
  EXPECT_EQ(status(sql, ids[2]), "processing");
  EXPECT_EQ(status(sql, ids[3]), "pending");
  EXPECT_EQ(worker.complete(held[1]), "settled");
  EXPECT_EQ(ids_of(worker.claim_lanes(5)), std::vector{ids[3]});
  EXPECT_EQ(worker.claim_lanes(5).size(), 0U);
}

// The head of the lane is found at once, however many old versions an open snapshot keeps, and
// finished jobs are not read again.
TEST_F(Lane, f05_an_open_snapshot_does_not_slow_claims) {
  enqueue_many(sql, 2000);
  LaneWorker worker(sql);
  Session reader(database);
  reader.run("begin isolation level repeatable read");
  reader.number("select count(*) from millrace.lane_head");
  const auto read = [&] {
    return sql.number(
        "select sum(pg_stat_get_xact_tuples_returned(c.oid)) from pg_class c where c.relname = "
        "'lane_head_idx' or c.oid in (select inhrelid from pg_inherits where inhparent = "
        "'millrace.job_fact_lane_idx'::regclass)");
  };
  const auto cost = [&] {
    must(sql.connection().begin());
    const auto before = read();
    EXPECT_EQ(worker.claim_lanes(5).size(), 5U);
    const auto entries = read() - before;
    must(sql.connection().commit());
    return entries;
  };
  const auto first = cost();
  for (int i = 0; i < 200; ++i) worker.complete_claim(worker.claim_lanes(5));
  EXPECT_LE(cost(), first + 5);
}

TEST_F(Lane, t12_a_clock_that_is_set_back_during_an_enqueue_makes_no_second_place) {
  sql.script(R"(
    do $$
    declare
      v_tenant uuid := millrace.current_tenant();
      v_specs millrace.job_spec[] := millrace.specs_from_json('{"job_type": "noop", "payload": {"n": 1}}');
      v_facts millrace.job_fact[] := millrace.resolve_specs(v_specs, v_tenant);
    begin
      insert into millrace.job_fact select f.* from unnest(v_facts) f;
      perform millrace.place_new(v_specs, v_facts, v_tenant, millrace.now() - interval '5 seconds');
    end $$)");
  EXPECT_EQ(sql.number("select count(*) from millrace.lane_waiting"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.delayed"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.ready"), 0);
}

TEST_F(Lane, t27_a_restore_from_another_server_is_noticed_and_put_right) {
  const auto ids = enqueue_many(sql, 5);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(2);
  worker.complete_claim({held[0]});
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(ids[4]));
  EXPECT_EQ(sql.number("select count(*) from millrace.stamps_ahead()"), 0);
  // As a dump carries them to a server that has not come as far.
  sql.script(R"(
    set session_replication_role = replica;
    update millrace.job_fact set lane_xid = (lane_xid::text::bigint + 1000000000)::text::xid8;
    update millrace.lane_head set lane_xid = (lane_xid::text::bigint + 1000000000)::text::xid8;
    update millrace.lane_gap set lane_xid = (lane_xid::text::bigint + 1000000000)::text::xid8;
    reset session_replication_role)");
  const auto lost = enqueue(sql);  // Before anybody noticed: it lines up before the head.
  EXPECT_EQ(sql.refused("select millrace.register_worker('new', '{}')").sqlstate, "MR025");
  EXPECT_EQ(sql.refused("select * from millrace.claim_next_job_v3('source')").sqlstate, "MR025");
  const auto done = sql.rows("select lanes, jobs from millrace.restamp_lanes()");
  EXPECT_EQ(done[0].i64(0), 1);
  EXPECT_EQ(done[0].i64(1), 3) << "two that waited and the new one";
  EXPECT_EQ(sql.number("select jobs from millrace.restamp_lanes()"), 0) << "once is enough";
  EXPECT_EQ(imbalance(sql), "");
  const auto fresh = enqueue(sql);
  LaneWorker next(sql, "next");
  auto got = ids_of(next.claim_lanes(10));
  std::ranges::sort(got);
  auto wanted = std::vector{ids[2], ids[3], lost, fresh};
  std::ranges::sort(wanted);
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(status(sql, ids[0]), "completed");
  EXPECT_EQ(worker.complete(held[1]), "settled") << "what was held stays so";
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Lane, f29_refused_bulk_calls_say_what_is_wrong_and_write_nothing) {
  const auto refused = [&](const char* payloads, const char* options) {
    return sql
        .refused("select * from millrace.enqueue_array('noop', $1::jsonb[], $2::jsonb)",
                 pg::params(payloads, options))
        .message;
  };
  EXPECT_EQ(refused(R"({"{\"n\": 1}", "{}"})", "{}"), "job 2: job_payload cannot be empty");
  EXPECT_EQ(refused(R"({"{\"n\": 1}", "[1]"})", "{}"), "job 2: job_payload must be a JSON object");
  EXPECT_EQ(refused(R"({"{\"n\": 1}"})", R"({"priority": 2000})"),
            "priority must be a whole number between 0 and 1000, got 2000");
  EXPECT_EQ(refused(R"({"{\"n\": 1}"})", R"({"queue": "nowhere"})"),
            "queue 'nowhere' does not exist");
  EXPECT_EQ(refused(R"({"{\"n\": 1}"})", R"([{"job_type": "noop", "payload": {"n": 2}}])"),
            "p_options must be a JSON object, not a JSON array");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}', '[]')").message,
            "p_options must be a JSON object, not a JSON array");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}', "
                        "'{\"priority\": \"5\"}')")
                .message,
            "job 1: priority must be a number, not a string");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

}  // namespace
}  // namespace millrace::test
