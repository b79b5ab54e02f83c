// Every call to the database fails once: before it is sent, on its way, and after it was done.
//
// One scenario (enqueue, claim, run, report, settle, drain) with the real worker and store on a
// real server, run for N = 1, 2, ... with the Nth place where a call can fail armed, until a run
// passes all of them. Whatever fails, the account balances afterwards: every job ended once, every
// effect is there once, nothing is held.
#include "base/fault.h"
#include "base/log.h"
#include "base/spawn.h"
#include "pg/pool.h"
#include "store/admin_store.h"
#include "store/pg_job_store.h"
#include "support/database.h"
#include "support/must.h"
#include "worker/handlers/builtin.h"
#include "worker/runtime.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;
using worker::JobContext;

// How often the handler of each job ran: what the world outside the database would see.
using Runs = std::map<std::string, int>;

class TestHandler final : public worker::Handler {
 public:
  using Body = std::function<Outcome(JobContext&)>;
  TestHandler(Runs& runs, Body body, Clock::Duration takes)
      : runs_(runs), body_(std::move(body)), takes_(takes) {}
  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override {
    ++runs_[context->job().id.to_string()];
    auto outcome = body_(*context);
    if (takes_ > 0ms) co_await context->clock().sleep_for(takes_);
    co_return outcome;
  }

 private:
  Runs& runs_;
  Body body_;
  Clock::Duration takes_;
};

constexpr const char* kLedgerEntry = "insert into public.ledger (job_id) values ($1)";

worker::HandlerRegistry make_handlers(Runs& runs) {
  worker::HandlerRegistry handlers;
  const auto add = [&](const char* type, TestHandler::Body body, Clock::Duration takes = 0ms) {
    must(handlers.add(type, std::make_unique<TestHandler>(runs, std::move(body), takes)));
  };
  add("plain", [](JobContext&) { return Outcome::ok(R"({"n": 1})"); });
  // Long enough for the reporter to store what it says while it still runs.
  add(
      "talkative",
      [](JobContext& context) {
        context.progress(50, "half");
        context.log(LogLevel::info, "said once");
        context.add_effect_job({{"job_type", "follow_up"}, {"payload", {{"a", 1}}}});
        context.in_settlement({{.sql = kLedgerEntry, .params = {context.job().id.to_string()}}});
        return Outcome::ok();
      },
      100ms);
  add("paying", [](JobContext& context) {
    context.log(LogLevel::info, "said once");
    context.in_settlement({{.sql = kLedgerEntry, .params = {context.job().id.to_string()}}});
    return Outcome::ok();
  });
  add("failing", [](JobContext& context) {
    context.in_settlement({{.sql = kLedgerEntry, .params = {context.job().id.to_string()}}});
    return Outcome::permanent("broken", "it is broken");
  });
  add("follow_up", [](JobContext& context) {
    context.in_settlement({{.sql = kLedgerEntry, .params = {context.job().id.to_string()}}});
    return Outcome::ok();
  });
  return handlers;
}

// What becomes of each job: its status, its log lines at most, its entries in the ledger. Those
// without an entry are settled in batches, and only what completes may have one.
struct Expected {
  const char* type;
  const char* status;
  int lines_max;
  int entries;
};
constexpr Expected kExpected[] = {{"plain", "completed", 0, 0},
                                  {"talkative", "completed", 1, 1},
                                  {"paying", "completed", 1, 1},
                                  {"failing", "failed", 0, 0},
                                  {"follow_up", "completed", 0, 1}};
constexpr const char* kFollowUp = "follow_up";  // Not enqueued by the producer.

const std::vector<std::string> kCalls = {"enqueue",  "ensure_types", "register", "claim",
                                         "progress", "logs",         "settle",   "settle_with",
                                         "beat",     "retire"};
const std::vector<std::string> kStages = {"before", "after_send", "after"};

class FailingSql : public ::testing::Test {
 protected:
  FailingSql() {
    must(admin_.script(
        "create table public.ledger (entry bigint generated always as identity, job_id uuid);"
        "grant insert on public.ledger to millrace_worker;"
        // A claim takes a slot of the provider, and whatever ends the lease gives it back.
        "select millrace.set_limit('p', 'e',"
        " '{\"requests_per_minute\": null, \"concurrent_requests\": 2}')"));
    // Known from the start, so that enqueueing does not wait for the worker.
    for (const auto& expected : kExpected) {
      const bool bound = expected.type == std::string_view("paying");
      must(admin_.query("select millrace.set_job_type($1, $2::jsonb)",
                        pg::params(expected.type, bound ? R"({"provider": "p:e"})" : "{}")));
    }
  }
  ~FailingSql() override { fault::disarm(); }

  // Asked in every run, so the server keeps the plan under `name`.
  std::string text(const std::string& name, const std::string& sql) {
    auto rows = must(admin_.prepared(name, sql));
    return rows.empty() ? std::string() : rows[0].opt_text(0).value_or("");
  }

  // A producer that repeats its request until it is answered, by the same keys.
  void enqueue(const std::string& run) {
    json::Array jobs;
    for (const auto& expected : kExpected) {
      const std::string type = expected.type;
      if (type == kFollowUp) continue;
      jobs.push_back(json::Object{{"job_type", type},
                                  {"payload", json::Object{{"run", run}}},
                                  {"idempotency_key", run + type},
                                  {"correlation_id", run}});
    }
    for (int trial = 0; trial < 4; ++trial) {
      if (producer_ && producer_->enqueue_jobs(jobs).has_value()) return;
      auto connected = store::AdminStore::connect(pg::connect_options(database_.url()));
      if (connected) producer_.emplace(std::move(*connected));
    }
    ADD_FAILURE() << "the enqueue fails again and again";
  }

  // What a process asks the database with. Kept from run to run: a fresh session would have to
  // learn all functions anew.
  struct Connections {
    explicit Connections(const std::string& url)
        : work(io.get_executor(), pg::connect_options(url), {.connections_max = 3}, random),
          beats(io.get_executor(), pg::connect_options(url), {.connections_max = 1}, random),
          store(work, beats) {}
    bool in_use() const {
      return std::ranges::any_of(std::array{work.counts(), beats.counts()}, [](const auto& counts) {
        return counts.open != counts.idle || counts.waiting > 0;
      });
    }
    SystemRandom random;
    boost::asio::io_context io{1};
    pg::Pool work;
    pg::Pool beats;
    store::PgJobStore store;
  };

  struct Worker {
    Worker(Connections& connections, Clock& clock, Random& random, Logger& log,
           const worker::Options& options, Runs& runs)
        : runtime(connections.io.get_executor(),
                  {.store = connections.store,
                   .wake = nullptr,
                   .clock = clock,
                   .random = random,
                   .log = log},
                  options, make_handlers(runs)) {
      spawn(connections.io.get_executor(), run(), log, "worker");
    }
    awaitable<void> run() {
      const auto report = co_await runtime.run();
      ended = true;
      error = report.has_value() ? std::string() : report.error().describe();
      if (report.has_value()) stuck = report->stuck_handlers;
    }
    worker::Runtime runtime;
    bool ended = false;
    std::size_t stuck = 0;
    std::string error;
  };

  // The worker's time passes only while the worker waits for time, never while the server is
  // asked: pauses and leases cost nothing, and a slow server loses nobody a lease.
  bool run_until(ManualClock& clock, const std::function<bool()>& done) {
    auto& io = connections_.io;
    const auto deadline = std::chrono::steady_clock::now() + 30s;  // Against hanging only.
    while (std::chrono::steady_clock::now() < deadline) {
      io.restart();
      io.poll();
      if (connections_.in_use()) {
        io.run_one_for(100ms);
        continue;
      }
      if (done()) return true;
      if (const auto next = clock.next_wakeup()) {
        clock.advance(std::max<Clock::Duration>(*next - clock.now(), 1ms));
      }
    }
    return false;
  }

  void scenario(const std::string& run) {
    runs_.clear();
    enqueue(run);
    ManualClock clock;
    SeededRandom random{std::hash<std::string>{}(run)};  // Processes have different names.
    std::vector<std::string> lines;
    Logger log(
        clock, [&](std::string_view line) { lines.emplace_back(line); }, Logger::Format::json,
        LogLevel::info);
    worker::Options options;
    options.slots = 4;
    options.prefetch = 0;
    options.report_interval = 50ms;
    Worker worker(connections_, clock, random, log, options, runs_);
    const auto all_ended = [&] {
      return worker.runtime.status().running == 0 &&
             text("live",
                  "select not exists (select from millrace.job_place where place <> 'history')") ==
                 "t";
    };
    const bool finished = run_until(clock, all_ended);
    worker.runtime.drain();
    const bool drained = run_until(clock, [&] { return worker.ended; });
    EXPECT_TRUE(finished) << "jobs are left over";
    EXPECT_TRUE(drained) << "the worker does not end";
    EXPECT_EQ(worker.error, "");
    EXPECT_EQ(worker.stuck, 0U) << "a slot of the worker is not free";
    EXPECT_FALSE(connections_.in_use()) << "a connection is lost to its pool";
    if (!HasFailure()) return;
    for (const auto& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  }

  void expect_balance(const std::string& run) {
    auto jobs = must(admin_.prepared(
        "jobs",
        "select t.job_type, f.job_id,"
        " (select string_agg(h.status || ' ' || h.attempt, ',') from millrace.job_place h"
        "   where h.place = 'history' and h.job_id = f.job_id) as ended,"
        " (select count(*) from millrace.job_log l where l.job_id = f.job_id) as lines,"
        " (select count(*) from public.ledger e where e.job_id = f.job_id) as entries "
        "from millrace.job_fact f join millrace.job_type t using (type_id) "
        "where f.correlation_id = $1",
        pg::params(run)));
    EXPECT_EQ(jobs.rows(), std::size(kExpected)) << "a job is missing, or there twice";
    for (const auto& expected : kExpected) {
      const auto row = std::ranges::find_if(
          jobs, [&](const auto& job) { return job.text("job_type") == expected.type; });
      ASSERT_NE(row, jobs.end()) << expected.type << ": is not there";
      const auto job = *row;
      EXPECT_EQ(job.opt_text("ended").value_or("never"), std::string(expected.status) + " 1")
          << expected.type << ": ended once, as it should, one attempt charged";
      EXPECT_LE(job.i64("lines"), expected.lines_max) << expected.type << ": said it twice";
      EXPECT_EQ(job.i64("entries"), expected.entries) << expected.type << ": entries in the ledger";
      EXPECT_EQ(runs_[std::string(job.text("job_id"))], 1) << expected.type << ": times run";
    }
    EXPECT_EQ(text("held",
                   "select concat_ws(' ', (select count(*) from millrace.job_place where place <> "
                   "'history'),"
                   " (select count(*) from millrace.provider_slot))"),
              "0 0")
        << "live jobs, slots of the provider";
    EXPECT_EQ(text("counters",
                   "select concat_ws(' ', sum(enqueued) - sum(completed) - sum(failed), sum(ready),"
                   " sum(delayed), sum(leased)) from (select enqueued, completed, failed, ready,"
                   " delayed, leased from millrace.counter union all select enqueued, completed,"
                   " failed, ready, delayed, leased from millrace.counter_delta) c"),
              "0 0 0 0")
        << "the counters do not add up";
  }

  // One run of the scenario under a plan; the points where it sprang.
  std::vector<std::string> run_under(const std::string& plan) {
    const auto run = fmt::format("{} ({})", plan, ++runs_made_);
    must(fault::arm(plan));
    scenario(run);
    auto sprung = fault::sprung();
    fault::disarm();
    expect_balance(run);
    if (HasFailure()) {
      ADD_FAILURE() << "under the plan " << plan << ", which sprang at "
                    << (sprung.empty() ? "no place" : sprung.back());
    }
    return sprung;
  }

  // Runs with the Nth place failing, until one passes without.
  void every_place(const std::string& action) {
    std::set<std::string> places;
    int nth = 0;
    for (;;) {
      const auto sprung = run_under(fmt::format("*={}@{}", action, nth + 1));
      if (HasFailure()) return;
      if (sprung.empty()) break;
      places.insert(sprung.back());
      ++nth;
    }
    // How many empty claims lie between two calls depends on the server's speed, so counting may
    // step over a place; those are aimed at by name.
    std::vector<std::string> missed;
    for (const auto& call : kCalls) {
      for (const auto& stage : kStages) {
        const auto place = fmt::format("{}.{}", call, stage);
        if (!places.contains(place)) missed.push_back(place);
      }
    }
    aim_at(missed, action);
    std::printf("%s: N up to %d, %zu different places; %zu more by name\n", action.c_str(), nth,
                places.size(), missed.size());
  }

  // A run for each place, with its first use failing after the plan `first` has gone off.
  void aim_at(const std::vector<std::string>& places, const std::string& action,
              const std::string& first = {}) {
    for (const auto& place : places) {
      const auto sprung = run_under(fmt::format("{}{}={}", first, place, action));
      if (HasFailure()) return;
      EXPECT_EQ(sprung.size(), first.empty() ? 1U : 2U) << place << " is not part of the scenario";
    }
  }

  TestDatabase database_;
  pg::SyncConnection admin_ = database_.connect();
  std::optional<store::AdminStore> producer_;
  Connections connections_{database_.url("millrace_worker")};
  Runs runs_;
  int runs_made_ = 0;
};

TEST_F(FailingSql, WithAnErrorAtAnyPlaceTheAccountBalances) { every_place("error"); }

TEST_F(FailingSql, WithALostConnectionAtAnyPlaceTheAccountBalances) { every_place("drop"); }

// The way back from a lost answer has calls of its own.
TEST_F(FailingSql, WithASecondFailureAfterALostClaimTheAccountBalances) {
  for (const auto* action : {"error", "drop"}) {
    for (const auto* call : {"unheld.", "settle.", "claim."}) {
      for (const auto& stage : kStages) aim_at({call + stage}, action, "claim.after=drop;");
    }
  }
}

}  // namespace
}  // namespace millrace::test
