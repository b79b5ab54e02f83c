// The store on a real server with its Nth allocation failing, for every call and every N.
//
// An embedding program may catch std::bad_alloc and go on with the same pools. So a call that ends
// with it has happened or has not, its connection is usable or closed, no place in a pool is lost,
// and the next call gets its own answer.
#include "failnth/allocations.h"
#include "pg/pool.h"
#include "store/pg_job_store.h"
#include "support/database.h"
#include "support/must.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;

// What a process has.
struct Process {
  Process(const std::string& url, Random& random)
      : work(io.get_executor(), pg::connect_options(url), {.connections_max = 1}, random),
        beats(io.get_executor(), pg::connect_options(url), {.connections_max = 1}, random),
        store(work, beats, {.acquire = 1s, .call = 30s, .beat = 30s}) {}

  boost::asio::io_context io{1};
  pg::Pool work;
  pg::Pool beats;
  store::PgJobStore store;
};

Result<void> wrong(const char* what) { return fail(ErrorKind::internal, what); }

using Body = std::function<Task<void>()>;

struct Call {
  const char* name;
  bool holds;       // It is about jobs that the worker holds; otherwise they are ready.
  bool repeatable;  // When it was done, doing it again changes nothing.
  Body body;
};

enum class Ended { well, with_an_error, by_exception };

class FailingStore : public ::testing::Test {
 protected:
  FailingStore() {
    must(admin_.script(
        "create table public.ledger (job_id uuid);"
        "grant insert on public.ledger to millrace_worker;"
        "select millrace.set_job_type('plain'); select millrace.set_job_type('next')"));
  }

  // Asked again and again, so the server keeps the plan under `name`.
  std::string text(const std::string& name, const std::string& sql, const pg::Params& params) {
    auto rows = must(admin_.prepared(name, sql, params));
    return rows.empty() ? std::string() : rows[0].opt_text(0).value_or("");
  }

  // A worker and two jobs, and nothing else.
  void begin(bool holds) {
    must(admin_.script(
        "delete from millrace.lease; delete from millrace.ready; delete from millrace.delayed;"
        "delete from millrace.claim_open; delete from millrace.lane_head; delete from "
        "millrace.lane;"
        "delete from millrace.worker; delete from public.ledger;"
        "delete from millrace.job_type where job_type like 'ensured%'"));
    key_.worker_id = "worker-with-a-name-that-needs-the-heap";
    key_.process =
        must(admin_.prepared("register", "select millrace.register_worker($1, $2)",
                             pg::params(key_.worker_id, R"({"supervisor_id": "parent"})")))[0]
            .uuid(0);
    leases_.clear();
    for (const auto row : must(admin_.prepared(
             "enqueue",
             "select job_id from millrace.enqueue_jobs("
             "'[{\"job_type\": \"plain\", \"payload\": {\"a\": 1}},"
             " {\"job_type\": \"plain\", \"payload\": {\"a\": 2}}]') order by job_id"))) {
      leases_.push_back({.id = row.id<JobId>("job_id"), .token = {}});
    }
    ASSERT_EQ(leases_.size(), 2U);
    if (!holds) return;
    const auto claimed = must(admin_.prepared(
        "claim",
        "select job_id, token from millrace.claim_jobs($1, $2, 'default', 10, '{plain}')"
        " order by job_id",
        pg::params(key_.worker_id, key_.process)));
    ASSERT_EQ(claimed.rows(), 2U);
    for (std::size_t i = 0; i < 2; ++i) leases_[i].token = claimed[i].id<LeaseToken>("token");
  }

  // All that a call can change, in words without ids.
  std::string state() {
    std::vector<Uuid> ids;
    for (const auto& lease : leases_) ids.push_back(lease.id.value);
    pg::Params params;
    params.add_uuid_array(ids);
    return text(
        "state",
        "select concat_ws(' | ',"
        " (select 'workers ' || count(*) || ', busy with ' || sum(running) from millrace.worker),"
        " (select 'held ' || count(*) from millrace.job_place where place = 'lease'),"
        " (select 'leases ' || count(*) || ', far ' || count(*) filter"
        "    (where lease_until > now() + interval '1 day') || ', progress ' ||"
        "    coalesce(string_agg(progress || coalesce(progress_message, ''), ','), '')"
        "    from millrace.lease),"
        " (select 'ready ' || count(*) from millrace.job_place where place = 'ready'),"
        " (select 'delayed ' || count(*) from millrace.delayed),"
        " (select 'ended ' || coalesce(string_agg(status || coalesce(result::text, ''), ','"
        "    order by job_id), '') from millrace.job_row where status in ('completed', 'failed',"
        "    'cancelled') and job_id = any ($1)),"
        " (select 'lines ' || count(*) from millrace.job_log where job_id = any ($1)),"
        " (select 'ledger ' || count(*) from public.ledger),"
        " (select 'types ' || count(*) from millrace.job_type where job_type like 'ensured%'))",
        params);
  }

  // Runs calls at the same time until nothing happens any more. Where an exception comes out of the
  // loop itself, the coroutine that it went through is gone.
  std::vector<Ended> run(const std::vector<Body>& bodies) {
    struct Run {
      bool finished = false;
      std::optional<Result<void>> result;
      std::exception_ptr thrown;
    };
    std::optional<Untouched> own;
    own.emplace();
    std::vector<std::shared_ptr<Run>> runs;
    for (std::size_t i = 0; i < bodies.size(); ++i) runs.push_back(std::make_shared<Run>());
    const auto unfinished = [&] {
      return std::ranges::any_of(runs, [](const auto& run) { return !run->finished; });
    };
    own.reset();
    const auto one = [](Body body, std::shared_ptr<Run> into) -> awaitable<void> {
      into->result.emplace(co_await body());
    };
    process_->io.restart();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      try {
        boost::asio::co_spawn(process_->io, one(bodies[i], runs[i]),
                              [state = runs[i]](const std::exception_ptr& thrown) {
                                state->thrown = thrown;
                                state->finished = true;
                              });
      } catch (const std::bad_alloc&) {
        runs[i]->finished = true;
      }
    }
    while (unfinished()) {
      try {
        if (process_->io.run_one() == 0) break;
      } catch (const std::bad_alloc&) {
        ++out_of_the_loop_;
      }
    }
    own.emplace();
    std::vector<Ended> ends;
    for (const auto& run : runs) {
      if (run->thrown) expect_out_of_memory(run->thrown);
      if (!run->result) {
        ends.push_back(Ended::by_exception);
      } else if (!run->result->has_value()) {
        last_error_ = run->result->error().describe();
        ends.push_back(Ended::with_an_error);
      } else {
        ends.push_back(Ended::well);
      }
    }
    return ends;
  }

  static void expect_out_of_memory(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      return;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "threw something else: " << error.what();
    }
  }

  // A session whose client is gone may still do what it was sent: wait until it has ended.
  void wait_for_sessions() {
    const auto deadline = std::chrono::steady_clock::now() + 30s;  // Against hanging only.
    const auto open = process_->work.counts().open + process_->beats.counts().open;
    while (text("sessions",
                "select count(*) > $1::integer from pg_stat_activity"
                " where datname = current_database() and usename = 'millrace_worker'",
                pg::params(open)) == "t") {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "a session does not end";
    }
  }

  void expect_nothing_taken() {
    for (const auto* pool : {&process_->work, &process_->beats}) {
      const auto counts = pool->counts();
      EXPECT_EQ(counts.open, counts.idle) << "a place of the pool is lost";
      EXPECT_EQ(counts.waiting, 0U) << "somebody who is gone still waits";
    }
  }

  // Returns how many allocations were made to fail.
  std::size_t every_allocation(const Call& call) {
    begin(call.holds);
    const auto before = state();
    const std::vector<Body> alone = {call.body};
    EXPECT_EQ(run(alone), std::vector{Ended::well}) << last_error_;
    const auto done = state();
    for (std::size_t nth = 1;; ++nth) {
      SCOPED_TRACE(std::string(call.name) + ", allocation " + std::to_string(nth));
      begin(call.holds);
      fail_allocation(nth);
      const auto ended = run(alone).front();
      const bool failed = stop_failing();
      wait_for_sessions();
      const auto after = state();
      if (ended == Ended::well) {
        EXPECT_EQ(after, done);
      } else if (after != before) {
        EXPECT_EQ(after, done) << "half done; before it was\n" << before;
      }
      expect_nothing_taken();
      if (after == before || call.repeatable) {
        EXPECT_EQ(run(alone), std::vector{Ended::well}) << "when repeated: " << last_error_;
        EXPECT_EQ(state(), done) << "when repeated";
        expect_nothing_taken();
      }
      if (!failed) EXPECT_EQ(ended, Ended::well) << last_error_;
      if (!failed || HasFailure()) return nth - 1;
    }
  }

  // The calls, each with its answer checked.

  Task<void> ensure_types() {
    return process_->store.ensure_job_types({"ensured_a", "ensured_b"}, "default");
  }
  Task<void> register_another() {
    MR_CO_TRY(const auto nonce,
              co_await process_->store.register_worker("another-worker-with-a-long-name",
                                                       {.host = "test", .queues = {"default"}}));
    co_return nonce != Uuid() ? ok() : wrong("no nonce");
  }
  Task<void> beat() {
    MR_CO_TRY(const auto beat, co_await process_->store.beat_worker(key_, {.running = 7}));
    co_return beat.alive ? ok() : wrong("not alive");
  }
  Task<void> claim() {
    MR_CO_TRY(const auto jobs,
              co_await process_->store.claim_jobs(
                  {.worker = key_, .queue = "default", .limit = 10, .job_types = {"plain"}}));
    if (jobs.size() != 2) co_return wrong("not two jobs");
    const bool same = jobs[0].id == leases_[0].id && jobs[1].id == leases_[1].id;
    const bool crossed = jobs[0].id == leases_[1].id && jobs[1].id == leases_[0].id;
    co_return same || crossed ? ok() : wrong("not these jobs");
  }
  Task<void> ask_unheld() {
    MR_CO_TRY(const auto unheld, co_await process_->store.unheld_leases(key_, {leases_[0].token}));
    const bool other = unheld.size() == 1 && unheld[0].token == leases_[1].token;
    co_return other ? ok() : wrong("not the other lease");
  }
  Task<void> extend() {
    MR_CO_TRY(const auto answers,
              co_await process_->store.extend_leases(key_.worker_id, leases_, 72h));
    const bool both = answers.size() == 2 && answers[0].extended && answers[1].extended;
    co_return both ? ok() : wrong("not extended");
  }
  Task<void> report() {
    std::vector<store::ProgressItem> items;
    for (const auto& lease : leases_) {
      items.push_back({.id = lease.id,
                       .token = lease.token,
                       .percent = 50,
                       .message = "half of it is done, the other half is not",
                       .data_json = {}});
    }
    MR_CO_TRY(const auto answers,
              co_await process_->store.report_progress(key_.worker_id, std::move(items)));
    const bool both = answers.size() == 2 && answers[0].held && answers[1].held;
    co_return both ? ok() : wrong("not held");
  }
  Task<void> append_logs() {
    std::vector<store::JobLogItem> items;
    for (const auto& lease : leases_) {
      items.push_back({.id = lease.id,
                       .token = lease.token,
                       .line = {.message = "a line that is longer than a small string"}});
    }
    MR_CO_TRY(const auto kept,
              co_await process_->store.append_logs(key_.worker_id, std::move(items)));
    co_return kept == 2 ? ok() : wrong("lines are missing");
  }
  Settlement first_settlement() const {
    return {.id = leases_[0].id,
            .token = leases_[0].token,
            .outcome = Outcome::ok(R"({"of": "the first one"})"),
            .logs = {{.message = "a line of some length for the heap"}}};
  }
  Task<void> settle() {
    std::vector<Settlement> settlements;
    settlements.push_back(first_settlement());
    settlements.push_back(
        {.id = leases_[1].id, .token = leases_[1].token, .outcome = Outcome::ok(), .logs = {}});
    settlements[1].outcome.effects_json =
        R"({"jobs": [{"job_type": "next", "payload": {"a": 3}}]})";
    MR_CO_TRY(const auto answers,
              co_await process_->store.settle(key_.worker_id, std::move(settlements)));
    if (answers.size() != 2) co_return wrong("not two answers");
    const bool in_order = answers[0].id == leases_[0].id && answers[1].id == leases_[1].id;
    const bool durable = is_durable(answers[0].answer) && is_durable(answers[1].answer);
    co_return in_order&& durable ? ok() : wrong("not settled");
  }
  Task<void> settle_with() {
    std::vector<SqlStatement> statements;
    statements.push_back(
        {.sql = "insert into public.ledger values ($1)", .params = {leases_[0].id.to_string()}});
    MR_CO_TRY(const auto answer, co_await process_->store.settle_with(
                                     key_.worker_id, first_settlement(), std::move(statements)));
    co_return is_durable(answer) ? ok() : wrong("not settled");
  }
  Task<void> hand_back() {
    MR_CO_TRY_VOID(co_await process_->store.hand_back_process("parent", key_.worker_id));
    co_return ok();
  }
  Task<void> retire() {
    MR_CO_TRY_VOID(co_await process_->store.retire_worker(key_));
    co_return ok();
  }

  TestDatabase database_;
  std::string url_ = database_.url("millrace_worker");
  pg::SyncConnection admin_ = database_.connect();
  SystemRandom random_;
  std::unique_ptr<Process> process_ = std::make_unique<Process>(url_, random_);
  store::WorkerKey key_;
  std::vector<store::HeldLease> leases_;
  std::string last_error_;
  int out_of_the_loop_ = 0;
};

TEST_F(FailingStore, EveryCallHasHappenedOrHasNotAndThePoolGoesOn) {
  const std::vector<Call> calls = {
      {"ensure_job_types", false, true, [this] { return ensure_types(); }},
      {"register_worker", false, false, [this] { return register_another(); }},
      {"beat_worker", true, true, [this] { return beat(); }},
      {"claim_jobs", false, false, [this] { return claim(); }},
      {"unheld_leases", true, true, [this] { return ask_unheld(); }},
      {"extend_leases", true, true, [this] { return extend(); }},
      {"report_progress", true, true, [this] { return report(); }},
      {"append_logs", true, false, [this] { return append_logs(); }},
      {"settle", true, true, [this] { return settle(); }},
      {"settle_with", true, true, [this] { return settle_with(); }},
      {"hand_back_process", true, true, [this] { return hand_back(); }},
      {"retire_worker", true, true, [this] { return retire(); }},
  };
  std::size_t allocations = 0;
  for (const auto& call : calls) {
    const auto made = every_allocation(call);
    if (HasFailure()) return;
    EXPECT_GT(made, 10U) << call.name << ": hardly anything was counted";
    std::printf("%s: %zu allocations\n", call.name, made);
    allocations += made;
  }
  std::printf("%zu allocations, %d of them threw out of the loop\n", allocations, out_of_the_loop_);
}

// The ways to a connection besides an idle one, each with a pool of one place: what is lost of it
// is missed at once.
class FailingPool : public FailingStore {
 protected:
  // `ready` makes the pools what the calls shall find.
  void every_allocation_of(std::size_t callers, const std::function<void()>& ready) {
    begin(true);
    const std::vector<Body> bodies(callers, ask_);
    std::size_t nth = 1;
    for (;; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      ready();
      fail_allocation(nth);
      const auto ends = run(bodies);
      const bool failed = stop_failing();
      const auto hurt = std::ranges::count_if(ends, [](Ended end) { return end != Ended::well; });
      EXPECT_LE(hurt, failed ? 1 : 0) << "one failure ended several calls: " << last_error_;
      expect_nothing_taken();
      EXPECT_EQ(run({ask_}), std::vector{Ended::well}) << "the next call: " << last_error_;
      expect_nothing_taken();
      if (HasFailure()) return;
      if (!failed) break;
    }
    std::printf("%zu allocations, %d of them threw out of the loop\n", nth - 1, out_of_the_loop_);
    EXPECT_GT(nth, 20U) << "hardly anything was counted";
  }

  const Body ask_ = [this] { return ask_unheld(); };
};

TEST_F(FailingPool, LosesNoPlaceWhenItConnects) {
  every_allocation_of(1, [&] { process_ = std::make_unique<Process>(url_, random_); });
}

TEST_F(FailingPool, LosesNoPlaceWhenItsIdleConnectionHasDied) {
  every_allocation_of(1, [&] {
    EXPECT_EQ(run({ask_}), std::vector{Ended::well}) << last_error_;
    const auto sessions =
        must(admin_.query("with mine as materialized (select pid from pg_stat_activity"
                          " where datname = current_database() and usename = 'millrace_worker')"
                          " select pid from mine where pg_terminate_backend(pid)"));
    // A session leaves the list before its socket is closed.
    for (const auto session : sessions) {
      while (::kill(static_cast<pid_t>(session.i64("pid")), 0) == 0) must(admin_.query("select"));
    }
  });
}

TEST_F(FailingPool, LosesNoPlaceWhenCallersWaitForEachOther) {
  every_allocation_of(2, [] {});
}

}  // namespace
}  // namespace millrace::test
