// The worker runtime against PostgreSQL, as the role millrace_worker.
#include "integration/worker_world.h"
#include "store/sqlstate.h"
#include "support/gate.h"
#include "worker/handlers/builtin.h"
#include "worker/handlers/exec_handler.h"

#include <algorithm>
#include <future>
#include <map>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;
using worker::HandlerOptions;
using worker::JobContext;

class WorkerPg : public WorldTest {
 protected:
  WorkerPg() {
    must(handlers.add("noop", std::make_unique<worker::NoopHandler>()));
    must(handlers.add("sleep", std::make_unique<worker::SleepHandler>(true)));
  }
  // Before the gate that its connections go through.
  void leave(Worker& worker) {
    worker.runtime.drain();
    run_until([&] { return worker.ended(); });
  }
  std::string attempts_of(const std::string& id) {
    return text(
        "select string_agg(outcome || ':' || charged, ',' order by attempt_seq) "
        "from millrace.attempt where job_id = $1::uuid",
        id);
  }
};

TEST_F(WorkerPg, EveryOutcomeClassEndsWhereItShould) {
  start_worker();
  const auto fine = enqueue("sleep", R"({"ms": 5})");
  const auto retry = enqueue("sleep", R"({"fail": "retry"})");
  const auto thrown = enqueue("sleep", R"({"fail": "throw"})");
  const auto permanent = enqueue("sleep", R"({"fail": "permanent"})");
  const auto throttled = enqueue("sleep", R"({"fail": "throttled"})");
  const auto blocked = enqueue("sleep", R"({"fail": "blocked"})");
  const auto partial = enqueue("sleep", R"({"fail": "partial"})");
  run_until_status(fine, "completed");
  run_until_status(retry, "retrying");
  run_until_status(thrown, "retrying");
  run_until_status(permanent, "failed");
  run_until_status(blocked, "deferred");
  run_until_status(partial, "retrying");
  run_until([&] { return attempts_of(throttled) == "throttled:false"; });
  EXPECT_EQ(attempts_of(retry), "retry:true");
  EXPECT_EQ(attempts_of(permanent), "permanent:true");
  EXPECT_EQ(
      text("select error ->> 'message' from millrace.attempt where job_id = $1::uuid", thrown),
      "the payload asked for an exception");
}

TEST_F(WorkerPg, ResultEffectsAndStatementsCommitTogether) {
  must(
      admin.script("create table public.ledger (job_id uuid, note text); "
                   "grant insert on public.ledger to millrace_worker"));
  must(handlers.add_function("effects", [](const ClaimedJob& job, JobContext& context) {
    context.add_effect_job({{"job_type", "noop"}, {"payload", {{"from", "effects"}}}});
    context.add_event("made", {{"n", 1}});
    context.in_settlement({{.sql = "insert into public.ledger values ($1, $2)",
                            .params = {job.id.to_string(), "paid"}}});
    return Outcome::ok(R"({"ok": true})");
  }));
  start_worker();
  run_until(
      [&] { return text("select 1 from millrace.job_type where job_type = 'effects'") == "1"; });
  const auto id = enqueue("effects", R"({"x": 1})");
  run_until_status(id, "completed");
  EXPECT_EQ(text("select note from public.ledger where job_id = $1::uuid", id), "paid");
  EXPECT_EQ(text("select result ->> 'ok' from millrace.jobs where job_id = $1::uuid", id), "true");
  const auto next = text("select job_id from millrace.job_fact where parent_id = $1::uuid", id);
  ASSERT_NE(next, "");
  run_until_status(next, "completed");
  EXPECT_EQ(text("select count(*) from millrace.event where kind = 'made'"), "1");
}

// Found by a run under overload: the follow-up job was refused, the attempt became a retry, and the
// statements were committed all the same.
TEST_F(WorkerPg, StatementsOfAnOutcomeThatWasReplacedDoNotHappen) {
  must(
      admin.script("create table public.ledger (job_id uuid); "
                   "grant insert on public.ledger to millrace_worker"));
  must(handlers.add_function("refused", [](const ClaimedJob& job, JobContext& context) {
    context.add_effect_job({{"job_type", "no.such.type"}, {"payload", {{"x", 1}}}});
    context.in_settlement(
        {{.sql = "insert into public.ledger values ($1)", .params = {job.id.to_string()}}});
    return Outcome::ok("{}");
  }));
  start_worker();
  run_until(
      [&] { return text("select 1 from millrace.job_type where job_type = 'refused'") == "1"; });
  const auto id = enqueue("refused", R"({"x": 1})");
  run_until_status(id, "failed");
  EXPECT_EQ(text("select reason from millrace.jobs where job_id = $1::uuid", id),
            "invalid_effects");
  EXPECT_EQ(text("select count(*) from public.ledger"), "0");
}

// X-20: nothing is told to its worker before it has settled.
TEST_F(WorkerPg, StatementsOfAnExportThatWasCancelledDoNotHappen) {
  must(
      admin.script("create table public.ledger (job_id uuid); "
                   "grant insert on public.ledger to millrace_worker"));
  std::promise<void> started;
  std::promise<void> go_on;
  auto gate = go_on.get_future().share();
  must(handlers.add_function("export_pdf", [&](const ClaimedJob& job, JobContext& context) {
    started.set_value();
    gate.wait();
    context.in_settlement(
        {{.sql = "insert into public.ledger values ($1)", .params = {job.id.to_string()}}});
    return Outcome::ok(R"({"file_size": 1})");
  }));
  options.queues = {{.name = "export"}};
  options.beat_interval = 10s;
  auto& worker = start_worker();
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  const auto id =
      enqueue("export_pdf", R"({"document_id": "00000000-0000-4000-8000-000000000001"})");
  auto running = started.get_future();
  run_until([&] { return running.wait_for(0s) == std::future_status::ready; });
  EXPECT_EQ(text("select c.answer from millrace.cancel_jobs(array[$1::uuid]) c", id),
            "cancel_requested");
  go_on.set_value();
  run_until_status(id, "cancelled");
  run_until([&] { return worker.runtime.status().settled == 1; });
  EXPECT_EQ(text("select count(*) from public.ledger"), "0");
  EXPECT_EQ(text("select result from millrace.jobs where job_id = $1::uuid", id), "");
  EXPECT_EQ(worker.runtime.status().fenced, 0U);
}

TEST_F(WorkerPg, AStaleDeliveryWritesNothing) {
  must(
      admin.script("create table public.ledger (job_id uuid); "
                   "grant insert on public.ledger to millrace_worker"));
  std::promise<void> started;
  std::promise<void> go_on;
  auto gate = go_on.get_future().share();
  must(handlers.add_function("zombie", [&](const ClaimedJob& job, JobContext& context) {
    if (job.delivery_count == 1) {
      started.set_value();
      gate.wait();
    }
    context.in_settlement(
        {{.sql = "insert into public.ledger values ($1)", .params = {job.id.to_string()}}});
    return Outcome::ok(std::to_string(job.delivery_count));
  }));
  auto& worker = start_worker();
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  const auto id = enqueue("zombie", R"({"x": 1})");
  auto running = started.get_future();
  run_until([&] { return running.wait_for(0s) == std::future_status::ready; });
  // The job is given away behind the worker's back.
  must(admin.query("update millrace.claim_open set lease_until = millrace.now() - interval '1 s'"));
  must(admin.query("select millrace.reclaim(100)"));
  must(admin.query("select * from millrace.run_now(array[$1::uuid], 'test')", pg::params(id)));
  run_until_status(id, "completed");
  go_on.set_value();
  run_until([&] { return worker.runtime.status().fenced == 1; });
  EXPECT_EQ(text("select result from millrace.jobs where job_id = $1::uuid", id), "2");
  EXPECT_EQ(text("select count(*) from public.ledger"), "1");
  EXPECT_TRUE(logged("job_fenced"));
}

TEST_F(WorkerPg, AStatementThatFailsUndoesTheSettlement) {
  must(handlers.add_function("broken", [](const ClaimedJob&, JobContext& context) {
    context.in_settlement({{.sql = "insert into public.no_such_table values (1)", .params = {}}});
    return Outcome::ok();
  }));
  auto& worker = start_worker();
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  const auto id = enqueue("broken", R"({"x": 1})");
  run_until_status(id, "retrying");
  EXPECT_EQ(text("select error ->> 'error_type' from millrace.attempt where job_id = $1::uuid", id),
            "settlement_statement_failed");
}

TEST_F(WorkerPg, AResultThatPostgresCannotStoreFailsOnlyItsOwnJob) {
  must(handlers.add_function("nul", [](const ClaimedJob&, JobContext&) {
    return Outcome::ok(R"({"text": "a\u0000b"})");
  }));
  auto& worker = start_worker();
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  std::vector<std::string> fine;
  const auto bad = enqueue("nul", R"({"x": 1})");
  for (int i = 0; i < 20; ++i) fine.push_back(enqueue("noop", R"({"x": 1})"));
  run_until_status(bad, "failed");
  for (const auto& id : fine) run_until_status(id, "completed");
  EXPECT_EQ(text("select error ->> 'error_type' from millrace.jobs where job_id = $1::uuid", bad),
            "outcome_refused");
}

TEST_F(WorkerPg, ACancelledJobStopsAndEndsCancelled) {
  auto& worker = start_worker();
  const auto id = enqueue("sleep", R"({"ms": 600000})");
  run_until_status(id, "processing");
  must(admin.query("select * from millrace.cancel_jobs(array[$1::uuid], 'not needed')",
                   pg::params(id)));
  run_until_status(id, "cancelled");
  run_until([&] { return worker.runtime.status().running == 0; });
}

TEST_F(WorkerPg, AJobThatRunsTooLongIsRetried) {
  start_worker();
  const auto id = enqueue("sleep", R"({"ms": 600000})", R"({"run_timeout_seconds": 0.2})");
  run_until_status(id, "retrying");
  EXPECT_EQ(text("select error ->> 'error_type' from millrace.attempt where job_id = $1::uuid", id),
            "timeout");
}

TEST_F(WorkerPg, ProgressAndLogLinesAreThereWhileItRuns) {
  std::promise<void> go_on;
  auto gate = go_on.get_future().share();
  must(handlers.add_function("talks", [&](const ClaimedJob&, JobContext& context) {
    context.progress(40, "half way");
    context.log(LogLevel::warn, "careful");
    gate.wait();
    context.log(LogLevel::info, "done");
    return Outcome::ok();
  }));
  auto& worker = start_worker();
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  const auto id = enqueue("talks", R"({"x": 1})");
  run_until([&] {
    return text(
               "select progress || ' ' || progress_message from millrace.jobs "
               "where job_id = $1::uuid",
               id) == "40 half way";
  });
  run_until([&] {
    return text("select count(*) from millrace.job_log where job_id = $1::uuid", id) == "1";
  });
  go_on.set_value();
  run_until_status(id, "completed");
  EXPECT_EQ(text("select string_agg(level || ' ' || message, ',' order by log_seq) "
                 "from millrace.job_log where job_id = $1::uuid",
                 id),
            "warn careful,info done");
}

TEST_F(WorkerPg, DrainHandsBackWithoutCharge) {
  options.slots = 2;
  options.drain_timeout = 100ms;
  auto& worker = start_worker();
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(enqueue("sleep", R"({"ms": 600000})"));
  run_until([&] { return worker.runtime.status().running == 2; });
  worker.runtime.drain();
  run_until([&] { return worker.ended(); });
  ASSERT_TRUE(worker.report.has_value());
  EXPECT_EQ(text("select count(*) from millrace.job_place where place = 'ready' and attempt = 0"),
            "4");
  EXPECT_EQ(text("select count(*) from millrace.job_place where place = 'lease'"), "0");
  EXPECT_EQ(text("select count(*) from millrace.worker"), "0");
  EXPECT_EQ(
      text("select count(*) from millrace.job_place where place = 'ready' and delivery_count = 1"),
      "2");
}

TEST_F(WorkerPg, AProcessDeclaredDeadRegistersAnewAndItsJobsRunAgain) {
  options.lease = 5s;
  auto& worker = start_worker();
  const auto id = enqueue("sleep", R"({"ms": 600000})");
  run_until_status(id, "processing");
  const auto first = worker.runtime.status().worker_id;
  must(admin.query("update millrace.worker set lease_until = millrace.now() - interval '1 s'"));
  must(admin.query("select millrace.reclaim(100)"));
  run_until([&] {
    const auto now = worker.runtime.status().worker_id;
    return !now.empty() && now != first;
  });
  EXPECT_EQ(attempts_of(id), "lost:true");
  run_until([&] { return worker.runtime.status().fenced >= 1; });
  must(admin.query("select * from millrace.run_now(array[$1::uuid], 'test')", pg::params(id)));
  run_until_status(id, "processing");
}

TEST_F(WorkerPg, ANotificationReplacesPolling) {
  options.poll_interval = 1h;
  auto& worker = start_worker(true);
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  // Armed means that it has asked, found nothing, and waits.
  run_until([&] {
    return text(
               "select bool_or(w.armed) from millrace.wake w join millrace.queue q "
               "on q.queue_id = w.queue_id where q.queue = 'default'") == "t";
  });
  run_until([&] {
    return text(
               "select count(*) from pg_stat_activity where datname = current_database() "
               "and query ilike 'listen%' and usename = 'millrace_worker'") == "1";
  });
  const auto id = enqueue("noop", R"({"x": 1})");
  run_until_status(id, "completed");
}

TEST_F(WorkerPg, ACrashingProgramIsPoisonAfterThreeDeliveries) {
  make_queue("crashing", R"({"backoff_base": "0 s", "backoff_factor": 1, "backoff_cap": "0 s"})");
  options.queues = {{.name = "crashing"}};
  must(handlers.add("crash",
                    std::make_unique<worker::ExecHandler>(worker::ExecOptions{
                        .argv = {"/bin/sh", "-c", "echo going down >&2; kill -SEGV $$"}}),
                    HandlerOptions{.queue = "crashing"}));
  auto& worker = start_worker();
  start_keeper();
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  const auto id = enqueue("crash", R"({"x": 1})");
  run_until_status(id, "failed");
  EXPECT_EQ(
      text("select reason || ' ' || delivery_count from millrace.jobs where job_id = $1::uuid", id),
      "poison 3");
}

// ---- answers that were lost ----

TEST_F(WorkerPg, ASettlementWhoseAnswerWasCutOffHappensOnce) {
  // Its commit waits for a lock that this test has, so that the answer is held before it is given.
  must(admin.script(
      "create table public.ledger (job_id uuid); grant insert on public.ledger to millrace_worker; "
      "create function public.wait_for_test() returns trigger language plpgsql as "
      "'begin perform pg_advisory_xact_lock(4711); return null; end'; "
      "create constraint trigger wait_for_test after insert on public.ledger deferrable initially "
      "deferred for each row execute function public.wait_for_test(); "
      "select pg_advisory_lock(4711)"));
  Gate gate(Server::get());
  must(handlers.add_function("careful", [&](const ClaimedJob& job, JobContext& context) {
    context.in_settlement(
        {{.sql = "insert into public.ledger values ($1)", .params = {job.id.to_string()}}});
    return Outcome::ok("1");
  }));
  options.poll_interval = 10s;
  auto& worker = start_worker(false, gate.url(database.name(), "millrace_worker"));
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  const auto id = enqueue("careful", R"({"x": 1})");
  run_until([&] {
    return text(
               "select exists (select from pg_locks where locktype = 'advisory' "
               "and objid = 4711 and not granted)") == "t";
  });
  gate.hold_answers();
  must(admin.script("select pg_advisory_unlock(4711)"));
  run_until_status(id, "completed");
  EXPECT_EQ(worker.runtime.status().settled, 0U);
  gate.cut();
  gate.open();
  run_until([&] { return worker.runtime.status().settled == 1; });
  EXPECT_EQ(text("select count(*) from public.ledger"), "1");
  EXPECT_EQ(status(id), "completed");
  EXPECT_EQ(worker.runtime.status().fenced, 0U);
  leave(worker);
}

TEST_F(WorkerPg, JobsOfAClaimWhoseAnswerWasCutOffRunAll) {
  Gate gate(Server::get());
  auto& worker = start_worker(false, gate.url(database.name(), "millrace_worker"));
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  gate.hold_answers();
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(enqueue("noop", R"({"x": 1})"));
  run_until([&] {
    if (text("select count(*) > 0 from millrace.claim_open") == "t") return true;
    gate.open();  // An earlier, empty claim: let it pass.
    gate.hold_answers();
    return false;
  });
  gate.cut();
  gate.open();
  for (const auto& id : ids) run_until_status(id, "completed");
  EXPECT_EQ(text("select count(*) from millrace.job_place where place = 'lease'"), "0");
  leave(worker);
}

TEST_F(WorkerPg, ADatabaseThatGoesAwayAndComesBackLosesNothing) {
  Gate gate(Server::get());
  auto& worker = start_worker(false, gate.url(database.name(), "millrace_worker"));
  run_until([&] { return !worker.runtime.status().worker_id.empty(); });
  std::vector<std::string> ids;
  for (int i = 0; i < 50; ++i) ids.push_back(enqueue("sleep", R"({"ms": 20})"));
  for (int round = 0; round < 2; ++round) {
    const auto before = worker.runtime.status().settled;
    gate.refuse(true);
    gate.cut();
    // Whichever call of the worker notices it first.
    run_until([&] {
      return logged("claim_failed") || logged("settlement_delayed") ||
             logged("unheld_leases_not_released");
    });
    lines.clear();
    gate.refuse(false);
    run_until([&] { return worker.runtime.status().settled > before; });
  }
  for (const auto& id : ids) run_until_status(id, "completed");
  EXPECT_EQ(text("select count(*) from millrace.job_place where status = 'completed'"), "50");
  leave(worker);
}

TEST_F(WorkerPg, ManyJobsOfManyWorkersBalanceExactly) {
  options.slots = 16;
  options.prefetch = 16;
  start_worker();
  for (int i = 0; i < 2; ++i) {
    must(handlers.add("noop", std::make_unique<worker::NoopHandler>()));
    start_worker(true);
  }
  must(
      admin.query("select millrace.enqueue_jobs((select jsonb_agg(jsonb_build_object("
                  "'job_type', 'noop', 'payload', jsonb_build_object('i', g))) "
                  "from generate_series(1, 2000) g))"));
  run_until([&] {
    return text("select count(*) from millrace.job_place where status = 'completed'") == "2000";
  });
  EXPECT_EQ(text("select sum(delivery_count) from millrace.job_place"), "2000");
  EXPECT_EQ(text("select sum(enqueued) = sum(completed) and sum(live) = 0 "
                 "from millrace.queue_counts()"),
            "t");
}

TEST_F(WorkerPg, AWorkerForAQueueThatDoesNotExistSaysSoAtTheStart) {
  must(handlers.add("other", std::make_unique<worker::NoopHandler>(),
                    HandlerOptions{.queue = "no_such_queue"}));
  auto& worker = start_worker();
  run_until([&] { return worker.ended(); });
  ASSERT_TRUE(worker.error.has_value());
  EXPECT_EQ(worker.error->sqlstate, "MR007");
  EXPECT_EQ(worker.error->kind, ErrorKind::not_found);
}

TEST_F(WorkerPg, SqlStatesAreTheSameInSqlAndHere) {
  auto rows = must(admin.query("select code, name from millrace.sqlstate order by code"));
  std::map<std::string, std::string> in_sql;
  for (const auto row : rows) in_sql.emplace(row.text("code"), row.text("name"));
  std::map<std::string, std::string> here;
  for (const auto& entry : store::sqlstates()) here.emplace(entry.code, entry.name);
  EXPECT_EQ(here, in_sql);
}

}  // namespace
}  // namespace millrace::test
