// The keeper against PostgreSQL, as the role millrace_keeper.
#include "integration/worker_world.h"
#include "worker/handlers/builtin.h"

namespace millrace::test {
namespace {

using namespace std::chrono_literals;

class KeeperPg : public WorldTest {
 protected:
  KeeperPg() {
    must(handlers.add("noop", std::make_unique<worker::NoopHandler>()));
    must(handlers.add("sleep", std::make_unique<worker::SleepHandler>(true)));
  }

  pg::Pool pool{io.get_executor(),
                pg::connect_options(database.url("millrace_keeper")),
                {.connections_max = 2},
                random};
  store::PgKeeperStore store{pool};
};

TEST_F(KeeperPg, EveryDutyRunsAsTheKeepersRole) {
  for (const auto& duty : keeper::standard_duties()) {
    auto done = run_blocking(io, duty.run(store, log, duty.batch_max));
    EXPECT_TRUE(done.has_value()) << duty.name << ": "
                                  << (done.has_value() ? "" : done.error().describe());
  }
}

TEST_F(KeeperPg, OneIsElectedAndAnotherFollowsWhenItResigns) {
  EXPECT_TRUE(must(run_blocking(io, store.elect("keeper", "a", 30s))));
  EXPECT_FALSE(must(run_blocking(io, store.elect("keeper", "b", 30s))));
  EXPECT_TRUE(must(run_blocking(io, store.elect("keeper", "a", 30s))));
  must(run_blocking(io, store.resign("keeper", "b")));  // Not its to give up.
  EXPECT_FALSE(must(run_blocking(io, store.elect("keeper", "b", 30s))));
  must(run_blocking(io, store.resign("keeper", "a")));
  EXPECT_TRUE(must(run_blocking(io, store.elect("keeper", "b", 30s))));
}

TEST_F(KeeperPg, AKeeperThatStoppedRenewingIsReplaced) {
  EXPECT_TRUE(must(run_blocking(io, store.elect("keeper", "a", 30s))));
  must(admin.query("update millrace.test_clock set shift = interval '31 s'"));
  EXPECT_TRUE(must(run_blocking(io, store.elect("keeper", "b", 30s))));
  EXPECT_FALSE(must(run_blocking(io, store.elect("keeper", "a", 30s))));
}

TEST_F(KeeperPg, OfTwoKeepersOneWorks) {
  start_keeper();
  keeper::Keeper other(io.get_executor(), store, clock, random, log, {.holder = "other"});
  struct Stop {  // Also when the test fails half-way.
    boost::asio::io_context& io;
    keeper::Keeper& keeper;
    ~Stop() { run_blocking(io, keeper.stop()); }
  } const stop{io, other};
  run_until([&] { return logged("keeper_elected"); });
  other.start();
  const auto id = enqueue("noop", R"({"x": 1})", R"({"delay_seconds": 0.05})");
  run_until([&] { return text("select count(*) from millrace.ready") == "1"; });
  EXPECT_FALSE(other.leading());
  EXPECT_EQ(status(id), "pending");
}

TEST_F(KeeperPg, DelayedAndRetriedWorkComesBack) {
  make_queue("quick",
             R"({"backoff_base": "0.05 s", "backoff_cap": "0.1 s", "reclaim_jitter": "0 s"})");
  options.queues = {{.name = "quick"}, {.name = "default"}};
  start_keeper();
  start_worker();
  const auto delayed = enqueue("noop", R"({"x": 1})", R"({"delay_seconds": 0.1})");
  const auto flaky =
      enqueue("sleep", R"({"fail": "retry", "fail_attempts": 2})", R"({"queue": "quick"})");
  run_until_status(delayed, "completed");
  run_until_status(flaky, "completed");
  EXPECT_EQ(text("select count(*) from millrace.attempt where job_id = $1::uuid", flaky), "2");
}

TEST_F(KeeperPg, JobsOfADeadProcessAreHandedOutAgain) {
  make_queue("quick", R"({"backoff_base": "0 s", "backoff_cap": "0 s", "reclaim_jitter": "0 s"})");
  const auto id = enqueue("noop", R"({"x": 1})", R"({"queue": "quick"})");
  const auto nonce =
      text("select millrace.register_worker('ghost', '{\"lease_ms\": 1000}'::jsonb)");
  must(admin.query("select * from millrace.claim_jobs('ghost', $1::uuid, 'quick', 1)",
                   pg::params(nonce)));
  EXPECT_EQ(status(id), "processing");
  options.queues = {{.name = "quick"}};
  start_keeper();
  start_worker();
  run_until_status(id, "completed");
  EXPECT_EQ(text("select delivery_count from millrace.job_history where job_id = $1::uuid", id),
            "2");
  EXPECT_EQ(text("select count(*) from millrace.worker where worker_id = 'ghost'"), "0");
}

TEST_F(KeeperPg, BatchCallbacksAndDependentsRun) {
  start_keeper();
  start_worker();
  const auto first = enqueue("noop", R"({"x": 1})");
  const auto second =
      enqueue("noop", R"({"x": 2})", R"({"after": {"jobs": [")" + first + R"("]}})");
  run_until_status(second, "completed");
  const auto batch = text(
      "select millrace.create_batch("
      "'[{\"job_type\": \"noop\", \"payload\": {\"x\": 1}}, {\"job_type\": \"noop\", \"payload\": "
      "{\"x\": 2}}]', "
      "'{\"callback\": {\"job_type\": \"noop\", \"payload\": {\"all\": \"done\"}}}')");
  run_until([&] {
    return text("select callback_job_id from millrace.batch where batch_id = $1::uuid", batch) !=
           "";
  });
  run_until_status(
      text("select callback_job_id from millrace.batch where batch_id = $1::uuid", batch),
      "completed");
}

TEST_F(KeeperPg, CronRunsMakeJobs) {
  must(
      admin.query("select millrace.set_cron('every second', '* * * * * *', "
                  "'{\"job_type\": \"noop\", \"payload\": {\"x\": 1}}')"));
  start_keeper();
  run_until([&] { return text("select count(*) >= 2 from millrace.job_fact") == "t"; });
  EXPECT_EQ(text("select last_error from millrace.cron"), "");
}

TEST_F(KeeperPg, CountersAreFoldedAndAuditIsSealed) {
  for (int i = 0; i < 5; ++i) enqueue("noop", R"({"x": 1})");
  start_keeper();
  run_until([&] { return text("select count(*) from millrace.counter_delta") == "0"; });
  EXPECT_EQ(text("select sum(enqueued) from millrace.counter"), "5");
  run_until([&] { return text("select count(*) > 0 from millrace.audit_seal") == "t"; });
}

TEST_F(KeeperPg, NamesTheSessionThatHoldsTheHorizon) {
  auto report = database.connect();
  must(report.query("set application_name = 'monthly report'"));
  must(report.query("begin isolation level repeatable read"));
  must(report.query("select count(*) from millrace.ready"));
  const auto holders = must(run_blocking(io, store.horizon()));
  const auto found = std::ranges::find_if(
      holders, [&](const auto& holder) { return holder.pid == report.backend_pid(); });
  ASSERT_NE(found, holders.end());
  EXPECT_EQ(found->name, "monthly report");
  EXPECT_EQ(found->kind, "session");
}

}  // namespace
}  // namespace millrace::test
