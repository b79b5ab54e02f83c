// Dependencies: a job that waits for others is released, cancelled or kept waiting, whatever the
// order of commits.
#include "sql/engine.h"

namespace millrace::test {
namespace {

using Dependency = EngineTest;

std::string after(const std::vector<std::string>& jobs, const std::string& more = "") {
  std::string list;
  for (const auto& id : jobs) list += fmt::format(R"({}"{}")", list.empty() ? "" : ", ", id);
  return fmt::format(R"({{"after": {{"jobs": [{}]{}{}}}}})", list, more.empty() ? "" : ", ", more);
}

TEST_F(Dependency, all_waits_for_the_last_of_them) {
  const auto needed = enqueue_many(sql, 3);
  const auto waiting = enqueue(sql, after(needed));
  keep(sql);
  EXPECT_EQ(job(sql, waiting, "waits_for"), "dependency");
  Worker worker(sql);
  const auto held = worker.claim(10);
  ASSERT_EQ(held.size(), 3U);
  worker.complete(held[0]);
  worker.complete(held[1]);
  keep(sql);
  EXPECT_EQ(worker.claim(10).size(), 0U);
  worker.complete(held[2]);
  keep(sql);
  EXPECT_EQ(worker.take().id, waiting);
  EXPECT_EQ(sql.number("select count(*) from millrace.dependency"), 0);
}

TEST_F(Dependency, any_waits_for_the_first_of_them) {
  const auto needed = enqueue_many(sql, 2);
  const auto waiting = enqueue(sql, after(needed, R"("mode": "any")"));
  Worker worker(sql);
  const auto held = worker.claim(10);
  worker.settle(held[0], "permanent");
  keep(sql);
  EXPECT_EQ(status(sql, waiting), "pending") << "the other one may still complete";
  EXPECT_EQ(worker.claim(10).size(), 0U);
  worker.complete(held[1]);
  keep(sql);
  EXPECT_EQ(worker.take().id, waiting);
}

TEST_F(Dependency, any_with_nothing_left_to_hope_for_is_cancelled) {
  const auto needed = enqueue_many(sql, 2);
  const auto waiting = enqueue(sql, after(needed, R"("mode": "any")"));
  sql.run("select * from millrace.cancel_jobs(array[$1, $2]::uuid[])",
          pg::params(needed[0], needed[1]));
  keep(sql);
  EXPECT_EQ(status(sql, waiting), "cancelled");
}

TEST_F(Dependency, a_failed_prerequisite_cancels_and_names_itself_and_the_cancel_passes_on) {
  const auto needed = enqueue(sql);
  const auto second = enqueue(sql, after({needed}));
  const auto third = enqueue(sql, after({second}));
  const auto stubborn = enqueue(sql, after({second}, R"("on_failure": "run")"));
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  keep(sql);
  EXPECT_EQ(status(sql, second), "cancelled");
  EXPECT_NE(job(sql, second, "reason").find(needed), std::string::npos);
  EXPECT_EQ(status(sql, third), "cancelled");
  EXPECT_EQ(worker.take().id, stubborn) << "on_failure run: it runs all the same";
}

TEST_F(Dependency, a_retry_of_the_prerequisite_decides_nothing) {
  const auto needed = enqueue(sql);
  const auto waiting = enqueue(sql, after({needed}));
  Worker worker(sql);
  worker.settle(worker.take(), "retry");
  keep(sql);
  EXPECT_EQ(job(sql, waiting, "waits_for"), "dependency");
  pass(sql, "1 minute");
  keep(sql);
  worker.complete(worker.take());
  keep(sql);
  EXPECT_EQ(worker.take().id, waiting);
}

TEST_F(Dependency, prerequisites_that_have_ended_already_are_judged_all_the_same) {
  const auto ids = enqueue_many(sql, 2);
  Worker worker(sql);
  const auto held = worker.claim(2);
  worker.complete(held[0]);
  worker.settle(held[1], "permanent");
  keep(sql);
  const auto runs = enqueue(sql, after({ids[0]}));
  const auto dies = enqueue(sql, after({ids[1]}));
  keep(sql);
  EXPECT_EQ(worker.take().id, runs);
  EXPECT_EQ(status(sql, dies), "cancelled");
}

// The prerequisite's settlement cannot see the dependent that is not committed, and the other way
// round.
TEST_F(Dependency, prerequisite_that_ends_while_the_dependent_is_enqueued_releases_it) {
  const auto needed = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  Session producer(database);
  must(producer.connection().begin());
  const auto waiting = enqueue(producer, after({needed}));
  ASSERT_EQ(worker.complete(delivery), "settled");
  keep(sql);  // Nothing to judge yet.
  must(producer.connection().commit());
  keep(sql);
  EXPECT_EQ(worker.take().id, waiting);
}

TEST_F(Dependency, dependent_that_commits_while_the_prerequisite_settles_is_released) {
  const auto needed = enqueue(sql);
  Worker worker(sql);
  const auto delivery = worker.take();
  must(sql.connection().begin());
  ASSERT_EQ(worker.complete(delivery), "settled");
  Session producer(database);
  const auto waiting = enqueue(producer, after({needed}));
  keep(producer);  // Its own note is judged while the prerequisite still runs, as far as anybody
                   // can see.
  must(sql.connection().commit());
  keep(sql);
  if (job(sql, waiting, "waits_for") == "dependency") {
    // The settlement could not see the dependent: the safety net finds it.
    sql.run("select millrace.reconcile(1000)");
    keep(sql);
  }
  EXPECT_EQ(worker.take().id, waiting);
}

TEST_F(Dependency, a_whole_graph_can_be_enqueued_in_one_call) {
  const std::string a = "01900000-0000-7000-8000-00000000000a";
  const std::string b = "01900000-0000-7000-8000-00000000000b";
  enqueue_jobs(sql, fmt::format(R"([{{"job_type": "noop", "payload": {{"n": 1}}, "id": "{0}"}},
      {{"job_type": "noop", "payload": {{"n": 1}}, "id": "{1}", "after": {{"jobs": ["{0}"]}}}},
      {{"job_type": "noop", "payload": {{"n": 1}}, "after": {{"jobs": ["{0}", "{1}"]}}}}])",
                                a, b));
  Worker worker(sql);
  for (int i = 0; i < 3; ++i) {
    worker.complete(worker.take());
    keep(sql);
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history where status = 'completed'"), 3);
}

TEST_F(Dependency, a10_jobs_cannot_wait_for_each_other_in_a_circle) {
  const std::string a = "01900000-0000-7000-8000-00000000000a";
  const std::string b = "01900000-0000-7000-8000-00000000000b";
  EXPECT_EQ(sql.refused("select * from millrace.enqueue_jobs($1::jsonb)",
                        pg::params(fmt::format(
                            R"([{{"job_type": "noop", "payload": {{"n": 1}}, "id": "{0}",
                                  "after": {{"jobs": ["{1}"]}}}},
                                {{"job_type": "noop", "payload": {{"n": 1}}, "id": "{1}",
                                  "after": {{"jobs": ["{0}"]}}}}])",
                            a, b)))
                .sqlstate,
            "MR019");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

TEST_F(Dependency, due_time_and_serial_key_hold_after_the_release) {
  const auto needed = enqueue(sql);
  auto options = after({needed});
  options.pop_back();
  const auto later = enqueue(sql, options + R"(, "delay_seconds": 3600})");
  const auto first = enqueue(sql, options + R"(, "serial_key": "k"})");
  const auto second = enqueue(sql, R"({"serial_key": "k"})");
  Worker worker(sql);
  const auto held = worker.claim(10);
  ASSERT_EQ(ids_of(held), std::vector{needed}) << "the line of the key waits with its head";
  worker.complete(held[0]);
  keep(sql);
  const auto next = worker.claim(10);
  ASSERT_EQ(ids_of(next), std::vector{first});
  worker.complete(next[0]);
  keep(sql);
  EXPECT_EQ(worker.take().id, second);
  EXPECT_EQ(job(sql, later, "waits_for"), "scheduled");
  pass(sql, "3601 seconds");
  keep(sql);
  EXPECT_EQ(worker.take().id, later);
}

TEST_F(Dependency, a_cancelled_dependent_stays_cancelled) {
  const auto needed = enqueue(sql);
  const auto waiting = enqueue(sql, after({needed}));
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(waiting));
  Worker worker(sql);
  worker.complete(worker.take());
  keep(sql);
  EXPECT_EQ(status(sql, waiting), "cancelled");
  EXPECT_EQ(sql.number("select count(*) from millrace.dependency"), 0);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Dependency, a_redriven_prerequisite_is_waited_for_again) {
  const auto needed = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  sql.run("select * from millrace.redrive_jobs('{}')");
  const auto waiting = enqueue(sql, after({needed}));
  keep(sql);
  EXPECT_EQ(status(sql, waiting), "pending");
  worker.complete(worker.take());
  keep(sql);
  EXPECT_EQ(worker.take().id, waiting);
}

TEST_F(Dependency, i08_a_job_of_another_tenant_cannot_be_waited_for) {
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  const auto theirs = enqueue(sql);
  as_tenant(sql, "bbbbbbbb-0000-4000-8000-000000000002");
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}', $1::jsonb)",
                        pg::params(after({theirs})))
                .sqlstate,
            "MR019");
}

TEST_F(Dependency, concurrent_finish_and_enqueue_leave_nobody_waiting) {
  constexpr int kPairs = 60;
  const auto needed = enqueue_many(sql, kPairs);
  together(3, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    if (i == 0) {
      for (const auto& id : needed) enqueue(mine, after({id}), "sleep");
    } else if (i == 1) {
      Worker worker(mine);
      int done = 0;
      while (!failed && done < kPairs) {
        for (const auto& delivery : worker.claim(2, {.types = "{noop}"})) {
          worker.complete(delivery);
          ++done;
        }
      }
    } else {
      while (!failed && mine.number("select count(*) from millrace.job_history") < kPairs) {
        mine.run("select millrace.advance(10)");
      }
    }
  });
  keep(sql);
  sql.run("select millrace.reconcile(1000)");
  keep(sql);
  EXPECT_EQ(places(sql), fmt::format("ready {}, delayed 0, leased 0", kPairs));
  EXPECT_EQ(imbalance(sql), "");
}

}  // namespace
}  // namespace millrace::test
