// A worker whose Nth allocation fails, for every N: claim, run, report, settle, drain.
//
// Each run is a process of its own on jobs that outlive it. A failing allocation in a handler is
// that job's retry; anywhere else the process may end, but only as it ends for every bug (by abort,
// having said so), and at once: never go on half dead, never settle twice, never lose a job, never
// record a success that was none. A second process then finishes what the first left.
#include "base/spawn.h"
#include "failnth/allocations.h"
#include "failnth/shared_ledger.h"
#include "worker/runtime.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;
using worker::JobContext;

enum ExitCode : int {
  kDone = 0,               // Drained; no allocation failed.
  kDoneAfterFailure = 10,  // Drained, although an allocation failed.
  kThrown = 11,            // An exception came out of the io_context: what main() reports.
  kStuck = 12,             // Nothing more happens, and it has not ended.
  kFailedStart = 13,
};

// Runs on the io thread, so that its allocations are counted like the worker's own.
class TestHandler final : public worker::Handler {
 public:
  explicit TestHandler(std::function<Outcome(JobContext&)> body) : body_(std::move(body)) {}
  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override {
    co_return body_(*context);
  }

 private:
  std::function<Outcome(JobContext&)> body_;
};

worker::HandlerRegistry make_handlers() {
  worker::HandlerRegistry handlers;
  const auto add = [&](const char* type, std::function<Outcome(JobContext&)> body) {
    (void)handlers.add(type, std::make_unique<TestHandler>(std::move(body)));
  };
  add("plain", [](JobContext&) { return Outcome::ok(R"({"done": "and worth some memory"})"); });
  add("talkative", [](JobContext& context) {
    context.progress(50, "half of it is done, the other half is not", R"({"page": 2})");
    context.log(LogLevel::info, "a line that is longer than a small string");
    context.add_effect_job({{"job_type", "next"}, {"payload", {{"a", 1}}}});
    return Outcome::ok();
  });
  add("paying", [](JobContext& context) {
    context.in_settlement({{.sql = "insert into some_ledger values ($1)", .params = {"paid"}}});
    return Outcome::ok();
  });
  add("failing", [](JobContext&) {
    return Outcome::permanent("no_such_file", "the document that it names is not there");
  });
  return handlers;
}

struct Child {
  explicit Child(SharedLedger& jobs) : ledger(jobs) {}

  SharedLedger& ledger;
  boost::asio::io_context io{1};
  ManualClock clock;
  SeededRandom random{42};
  Logger log = Logger::to_stderr(clock, Logger::Format::json, LogLevel::error);
  bool ended = false;
  bool failed = false;

  awaitable<void> run(worker::Runtime* runtime) {
    const auto report = co_await runtime->run();
    ended = true;
    failed = !report.has_value();
  }

  // Lets time pass until all jobs have ended, then drains.
  int work() {
    worker::Options options;
    options.slots = 2;
    options.prefetch = 1;
    worker::Runtime runtime(
        io.get_executor(),
        {.store = ledger, .wake = nullptr, .clock = clock, .random = random, .log = log}, options,
        make_handlers());
    spawn(io.get_executor(), run(&runtime), log, "runtime");
    bool draining = false;
    for (int step = 0; step < 400 && !ended; ++step) {
      io.restart();
      io.poll();
      if (ledger.all_ended() && !draining) {
        draining = true;
        runtime.drain();
        continue;
      }
      clock.advance(500ms);
    }
    if (!ended) return kStuck;
    return failed ? kFailedStart : kDone;
  }
};

[[noreturn]] void be_child(SharedLedger& ledger, std::size_t nth) {
  int code = kThrown;
  if (nth > 0) fail_allocation(nth);
  try {
    auto child = std::make_unique<Child>(ledger);
    code = child->work();
  } catch (const std::bad_alloc&) {
    code = kThrown;
  }
  const bool sprung = stop_failing();
  std::_Exit(code == kDone && sprung ? kDoneAfterFailure : code);
}

int run_child(SharedLedger& ledger, std::size_t nth, const std::string& log_file) {
  const auto pid = ::fork();
  if (pid == 0) {
    if (std::freopen(log_file.c_str(), "w", stderr) == nullptr) std::_Exit(99);
    ::signal(SIGABRT, SIG_DFL);
    ::alarm(60);  // Only against a test that hangs.
    be_child(ledger, nth);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

std::string read_all(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "r")) {
    char buffer[4096];
    while (const auto got = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, got);
    std::fclose(file);
  }
  return text;
}

std::string describe(int status) {
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit code " + std::to_string(WEXITSTATUS(status));
}

class FailingWorker : public ::testing::Test {
 protected:
  ~FailingWorker() override { ::unlink(log_file_.c_str()); }

  void expect_nothing_wrong(const char* when) {
    for (const auto& job : ledger_.shared().jobs) {
      const auto* type = SharedLedger::kJobTypes[static_cast<std::size_t>(job.kind)];
      EXPECT_LE(job.settlements, 1) << type << ": settled twice, " << when;
      EXPECT_EQ(job.settlements, job.place == SharedLedger::Place::ended ? 1 : 0) << type << when;
      EXPECT_LE(job.effects, 1) << type << ": paid twice, " << when;
      EXPECT_EQ(job.stale, 0) << type << ": settled without a lease, " << when;
      if (job.kind == 3) EXPECT_FALSE(job.succeeded) << "a failure became a success, " << when;
      if (job.kind == 2 && job.succeeded) EXPECT_EQ(job.effects, 1) << "not paid, " << when;
    }
  }

  // Orderly: it said what happened, or a caller of the io_context can. On that way out of main()
  // the first thing that misses its coroutines stops it.
  bool orderly(int status) {
    if (WIFEXITED(status)) {
      return WEXITSTATUS(status) == kDoneAfterFailure || WEXITSTATUS(status) == kThrown;
    }
    const auto said = read_all(log_file_);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
           (said.contains("task_crashed") || said.contains("invariant failed: running() == 0"));
  }

  SharedLedger ledger_;
  std::string log_file_ = ::testing::TempDir() + "failnth-" + std::to_string(::getpid()) + ".log";
};

TEST_F(FailingWorker, EndsInOrderOrGoesOnAndNoJobIsLostOrDoneTwice) {
  std::size_t survived = 0;
  std::size_t aborted = 0;
  std::size_t thrown = 0;
  std::size_t nth = 1;
  for (;; ++nth) {
    ledger_.begin();
    const auto status = run_child(ledger_, nth, log_file_);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kDone) break;
    ASSERT_TRUE(orderly(status)) << "allocation " << nth << " failed: " << describe(status) << "\n"
                                 << read_all(log_file_);
    (WIFSIGNALED(status) ? aborted : WEXITSTATUS(status) == kThrown ? thrown : survived) += 1;
    expect_nothing_wrong("after the failure");
    // The retry of a handler that ran out of memory ends its job here, where nobody repeats it.
    ledger_.reclaim();
    const auto second = run_child(ledger_, 0, log_file_);
    ASSERT_TRUE(WIFEXITED(second) && WEXITSTATUS(second) == kDone)
        << "after allocation " << nth << ": " << describe(second) << "\n"
        << read_all(log_file_);
    expect_nothing_wrong("after the second process");
    EXPECT_TRUE(ledger_.all_ended()) << "a job is left over after allocation " << nth;
    if (HasFailure()) FAIL() << "at allocation " << nth;
  }
  std::printf("%zu allocations: %zu survived, %zu aborted, %zu thrown out of the loop\n", nth - 1,
              survived, aborted, thrown);
  EXPECT_GT(nth, 250U) << "hardly anything was counted";
  EXPECT_GT(survived, 0U) << "a handler's allocation is a retry, not the end";
}

}  // namespace
}  // namespace millrace::test
