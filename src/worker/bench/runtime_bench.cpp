// runtime_bench: what a job costs the worker process itself. A store in memory hands out as many
// jobs as it is asked for and takes every result at once; what is left is the runtime.
//
//   runtime_bench [jobs] [slots] [noop|post|sleep]
//
// A tool for development: it says how fast this machine is, so it is no test.
#include "base/event.h"
#include "base/run.h"
#include "base/spawn.h"
#include "worker/handlers/builtin.h"
#include "worker/runtime.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>

namespace millrace::worker {
namespace {

Uuid numbered(std::uint64_t kind, std::uint64_t number) {
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), &kind, sizeof kind);
  std::memcpy(uuid.bytes.data() + sizeof kind, &number, sizeof number);
  return uuid;
}

class BenchStore final : public store::JobStore {
 public:
  BenchStore(std::uint64_t jobs, std::string type) : left_(jobs) {
    template_.queue = "default";
    template_.job_type = std::move(type);
    template_.payload_json = R"({"n": 1})";
    template_.mark = "12:3:5:123456";
  }

  std::uint64_t claims = 0;
  std::uint64_t calls = 0;
  std::uint64_t settled = 0;
  std::uint64_t beats = 0;
  std::uint64_t held_max = 0;
  Clock::Steady last_beat = Clock::Steady::max();
  Clock::Duration beat_gap_max{0};
  Event done;

  Task<void> ensure_job_types(std::vector<std::string>, std::string) override { co_return ok(); }
  Task<Uuid> register_worker(std::string, store::WorkerInfo) override {
    co_return numbered(9, ++registered_);
  }
  Task<store::BeatAnswer> beat_worker(store::WorkerKey, store::BeatInfo) override {
    ++beats;
    const auto now = SystemClock().now();
    if (last_beat < now) beat_gap_max = std::max(beat_gap_max, now - last_beat);
    last_beat = now;
    store::BeatAnswer answer;
    answer.alive = true;
    co_return answer;
  }
  Task<int> retire_worker(store::WorkerKey) override { co_return 0; }
  Task<std::vector<store::HeldLease>> unheld_leases(store::WorkerKey,
                                                    std::vector<LeaseToken>) override {
    co_return std::vector<store::HeldLease>();
  }
  Task<int> hand_back_process(std::string, std::string) override { co_return 0; }

  Task<std::vector<ClaimedJob>> claim_jobs(store::ClaimRequest request) override {
    ++claims;
    std::vector<ClaimedJob> jobs;
    const auto count = std::min<std::uint64_t>(left_, static_cast<std::uint64_t>(request.limit));
    jobs.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& job = jobs.emplace_back(template_);
      job.id = JobId{numbered(1, ++last_)};
      job.token = LeaseToken{numbered(2, last_)};
    }
    left_ -= count;
    held_max = std::max(held_max, last_ - settled);
    co_await turn();
    co_return jobs;
  }
  Task<std::vector<store::ExtendAnswer>> extend_leases(std::string,
                                                       std::vector<store::HeldLease> leases,
                                                       std::chrono::milliseconds) override {
    std::vector<store::ExtendAnswer> answers;
    for (const auto& lease : leases) answers.push_back({.id = lease.id, .extended = true});
    co_return answers;
  }
  Task<std::vector<JobAnswer>> settle(std::string, std::vector<Settlement> settlements) override {
    ++calls;
    std::vector<JobAnswer> answers;
    answers.reserve(settlements.size());
    for (const auto& settlement : settlements) {
      answers.push_back({.id = settlement.id, .answer = Answer::settled});
    }
    settled += settlements.size();
    if (left_ == 0 && settled == last_) done.set();
    co_await turn();
    co_return answers;
  }
  Task<Answer> settle_with(std::string, Settlement, std::vector<SqlStatement>) override {
    co_return Answer::settled;
  }
  Task<std::vector<store::ProgressAnswer>> report_progress(
      std::string, std::vector<store::ProgressItem>) override {
    co_return std::vector<store::ProgressAnswer>();
  }
  Task<int> append_logs(std::string, std::vector<store::JobLogItem>) override { co_return 0; }

 private:
  // An answer comes through the event loop, as that of a database does.
  static awaitable<void> turn() {
    co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                               boost::asio::use_awaitable);
  }

  ClaimedJob template_;
  std::uint64_t left_;
  std::uint64_t last_ = 0;
  std::uint64_t registered_ = 0;
};

// Ends after one turn of the event loop: the way of every handler that waits for something.
class PostHandler final : public Handler {
 public:
  awaitable<Outcome> run(std::shared_ptr<JobContext>) override {
    co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                               boost::asio::use_awaitable);
    co_return Outcome::ok();
  }
};

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

awaitable<void> run_until_done(Runtime& runtime, BenchStore& store, Logger& log) {
  spawn(
      co_await boost::asio::this_coro::executor,
      [](Runtime& one, Event done) -> awaitable<void> {
        co_await done.wait();
        one.drain();
      }(runtime, store.done),
      log, "end");
  const auto report = co_await runtime.run();
  if (!report.has_value()) fmt::print(stderr, "{}\n", report.error().describe());
}

int bench(std::uint64_t jobs, int slots, const std::string& type) {
  boost::asio::io_context io(1);
  SystemClock clock;
  SystemRandom random;
  Logger log = Logger::to_stderr(clock, LogLevel::warn);
  BenchStore store(jobs, type);
  HandlerRegistry handlers;
  (void)handlers.add("noop", std::make_unique<NoopHandler>());
  (void)handlers.add("post", std::make_unique<PostHandler>());
  (void)handlers.add("sleep", std::make_unique<SleepHandler>());
  Options options;
  options.slots = slots;
  options.prefetch = 2000;
  options.lease = std::chrono::milliseconds(1'000);
  options.beat_interval = std::chrono::milliseconds(100);
  Runtime runtime(io.get_executor(),
                  {.store = store, .wake = nullptr, .clock = clock, .random = random, .log = log},
                  options, std::move(handlers));
  const auto begun = clock.now();
  const auto cpu = cpu_seconds();
  run_blocking(io, run_until_done(runtime, store, log));
  const std::chrono::duration<double> took = clock.now() - begun;
  const double used = cpu_seconds() - cpu;
  const auto count = static_cast<double>(jobs);
  fmt::print(
      "{} {} jobs on {} slots: {:.0f} jobs/s, {:.0f} ns of processor each; {} claims, {} "
      "settle calls, {} held at most, {} beats, {:.0f} ms apart at most\n",
      jobs, type, slots, count / took.count(), used * 1e9 / count, store.claims, store.calls,
      store.held_max, store.beats,
      std::chrono::duration<double, std::milli>(store.beat_gap_max).count());
  return store.settled == jobs ? 0 : 1;
}

}  // namespace
}  // namespace millrace::worker

int main(int argc, char** argv) {
  const std::uint64_t jobs = argc > 1 ? std::stoull(argv[1]) : 1'000'000;
  const int slots = argc > 2 ? std::stoi(argv[2]) : 10;
  return millrace::worker::bench(jobs, slots, argc > 3 ? argv[3] : "noop");
}
