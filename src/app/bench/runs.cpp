#include "app/bench/runs.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr const char* kQueue = "bench";
constexpr const char* kType = "bench";
constexpr auto kPatience = 600s;

}  // namespace

// Counts handled jobs and wakes the one who waits for all of them.
class BenchRun::Tally {
 public:
  explicit Tally(std::int64_t wanted) : wanted_(wanted) {}

  void add() {
    if (++count_ != wanted_) return;
    const std::lock_guard lock(mutex_);
    reached_.notify_all();
  }
  bool complete() const { return count_ >= wanted_; }
  // A second at a time, so that the caller can look whether the worker still lives.
  bool wait_a_second() const {
    std::unique_lock lock(mutex_);
    return reached_.wait_for(lock, 1s, [this] { return complete(); });
  }

 private:
  const std::int64_t wanted_;
  std::atomic<std::int64_t> count_ = 0;
  mutable std::mutex mutex_;  // For waiting only.
  mutable std::condition_variable reached_;
};

struct BenchRun::Pickup {
  std::mutex mutex;  // Guards started.
  std::map<JobId, Clock::Steady> started;
};

namespace {

class NotingHandler final : public worker::Handler {
 public:
  using Note = std::function<void(const JobId&)>;
  explicit NotingHandler(Note note) : note_(std::move(note)) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override {
    note_(context->job().id);
    co_return Outcome::ok();
  }

 private:
  Note note_;
};

}  // namespace

Result<store::AdminStore> BenchRun::connect() { return context_.connect_to(database_); }

std::string BenchRun::payload(std::int64_t number) const {
  auto text = fmt::format(R"({{"number":{},"fill":")", number);
  const auto size = static_cast<std::int64_t>(text.size()) + 2;
  text.append(static_cast<std::size_t>(std::max<std::int64_t>(0, options_.payload_bytes - size)),
              'x');
  return text + "\"}";
}

void BenchRun::tell(const std::string& name, double value, const std::string& unit) const {
  if (context_.terminal.err_tty && !context_.json()) {
    context_.note(
        context_.terminal.paint(Style::dim, fmt::format("  {}: {:.1f} {}", name, value, unit)));
  }
}

Result<void> BenchRun::set_up(store::AdminStore& store) {
  MR_TRY(const bool exists, store.queue_exists(kQueue));
  if (!exists) MR_TRY_VOID(store.set_queue(kQueue, {}));
  MR_TRY_VOID(store.ensure_job_types({kType}, kQueue));
  return empty_queue(store);
}

Result<void> BenchRun::fill(store::AdminStore& store, std::int64_t jobs) {
  for (std::int64_t done = 0; done < jobs; done += 10'000) {
    MR_TRY_VOID(store.copy_jobs(kType, kQueue, std::min<std::int64_t>(10'000, jobs - done),
                                [&](std::int64_t i) { return payload(done + i); }));
  }
  return {};
}

std::unique_ptr<Engine> BenchRun::make_engine(Tally& tally, Pickup* pickup) {
  EngineOptions engine;
  engine.database = database_;
  engine.worker = worker_options(context_);
  engine.worker.worker_id_prefix = "bench";
  engine.worker.slots = options_.slots;
  engine.worker.prefetch = options_.prefetch;
  engine.worker.queues = {{.name = kQueue}};
  auto& clock = context_.clock;
  engine.handlers = [&tally, pickup, &clock](http::Client&) -> Result<worker::HandlerRegistry> {
    const auto note = [&tally, pickup, &clock](const JobId& id) {
      if (pickup != nullptr) {
        const auto now = clock.now();
        const std::lock_guard lock(pickup->mutex);
        pickup->started.try_emplace(id, now);
      }
      tally.add();
    };
    worker::HandlerRegistry registry;
    MR_TRY_VOID(registry.add(kType, std::make_unique<NotingHandler>(note), {.queue = kQueue}));
    return registry;
  };
  return std::make_unique<Engine>(context_, std::move(engine));
}

Result<void> BenchRun::await_jobs(Engine& engine, const Tally& tally) {
  const auto begin = context_.clock.now();
  while (!tally.wait_a_second()) {
    if (!engine.finished() && context_.clock.now() - begin < kPatience) continue;
    engine.kill();
    MR_TRY_VOID(engine.join());
    return fail(ErrorKind::unavailable, "the worker did not finish its jobs");
  }
  return {};
}

Result<double> BenchRun::time_worker(store::AdminStore& store, std::int64_t jobs) {
  MR_TRY(const auto before, store.counts(kQueue));
  Tally tally(jobs);
  auto engine = make_engine(tally, nullptr);
  engine->start();
  (void)engine->wait_ready(kPatience);
  const auto begin = context_.clock.now();
  // First by our own count, which costs the server nothing, then until all of it is settled.
  MR_TRY_VOID(await_jobs(*engine, tally));
  for (std::int64_t settled = 0; settled < jobs;) {
    MR_TRY(const auto now, store.counts(kQueue));
    settled = now.completed - before.completed;
  }
  const auto took = Seconds(context_.clock.now() - begin).count();
  engine->drain();
  MR_TRY_VOID(engine->join());
  return static_cast<double>(jobs) / took;
}

Result<void> BenchRun::empty_queue(store::AdminStore& store) {
  MR_TRY(const auto counts, store.counts(kQueue));
  if (counts.live() == 0) return {};
  MR_TRY_VOID(time_worker(store, counts.live()));
  return {};
}

Result<double> BenchRun::enqueue_with_clients(
    int clients, std::int64_t jobs,
    const std::function<Result<void>(store::AdminStore&, std::int64_t)>& send) {
  std::vector<store::AdminStore> stores;
  for (int i = 0; i < clients; ++i) {
    MR_TRY(auto store, connect());
    stores.push_back(std::move(store));
  }
  std::mutex mutex;
  std::optional<Error> failure;
  std::vector<std::thread> threads;
  const auto begin = context_.clock.now();
  for (auto& store : stores) {
    threads.emplace_back([&] {
      auto sent = send(store, jobs / clients);
      const std::lock_guard lock(mutex);
      if (!sent) failure = sent.error();
    });
  }
  for (auto& thread : threads) thread.join();
  if (failure) return fail(*failure);
  const auto took = Seconds(context_.clock.now() - begin).count();
  return static_cast<double>(jobs / clients * clients) / took;
}

Result<std::vector<Measured>> BenchRun::enqueue() {
  MR_TRY(auto store, connect());
  MR_TRY_VOID(set_up(store));
  const auto single = [this](store::AdminStore& one, std::int64_t jobs) -> Result<void> {
    for (std::int64_t i = 0; i < jobs; ++i) {
      MR_TRY_VOID(one.enqueue_array(kType, {payload(i)}, {{"queue", kQueue}}));
    }
    return {};
  };
  const auto arrays = [this](store::AdminStore& one, std::int64_t jobs) -> Result<void> {
    for (std::int64_t i = 0; i < jobs;) {
      std::vector<std::string> payloads;
      for (; i < jobs && std::ssize(payloads) < options_.batch; ++i) payloads.push_back(payload(i));
      MR_TRY_VOID(one.enqueue_array(kType, payloads, {{"queue", kQueue}}));
    }
    return {};
  };
  const auto copy = [this](store::AdminStore& one, std::int64_t jobs) { return fill(one, jobs); };

  const auto many = options_.jobs.value_or(50'000);
  const auto few = std::max<std::int64_t>(100, many / 25);
  struct Case {
    std::string name;
    int clients;
    std::int64_t jobs;
    std::function<Result<void>(store::AdminStore&, std::int64_t)> send;
  };
  const std::vector<Case> cases{
      {"single, 1 client", 1, few, single},
      {fmt::format("single, {} clients", options_.clients), options_.clients, few, single},
      {fmt::format("array of {}, 1 client", options_.batch), 1, many, arrays},
      {fmt::format("array of {}, {} clients", options_.batch, options_.clients), options_.clients,
       many, arrays},
      {"copy, 1 client", 1, many, copy},
  };
  std::vector<Measured> results;
  for (const auto& one : cases) {
    Measured measured{.name = one.name, .samples = {}};
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      MR_TRY(const auto rate, enqueue_with_clients(one.clients, one.jobs, one.send));
      measured.samples.push_back(rate);
      tell(one.name, rate, measured.unit);
      MR_TRY_VOID(empty_queue(store));
    }
    results.push_back(std::move(measured));
  }
  return results;
}

Result<std::vector<Measured>> BenchRun::drain() {
  MR_TRY(auto store, connect());
  MR_TRY_VOID(set_up(store));
  const auto jobs = options_.jobs.value_or(50'000);
  Measured measured{.name = fmt::format("{} jobs, 1 process, {} slots, prefetch {}", jobs,
                                        options_.slots, options_.prefetch),
                    .samples = {}};
  for (int repeat = 0; repeat < options_.repeats; ++repeat) {
    MR_TRY_VOID(fill(store, jobs));
    MR_TRY(const auto rate, time_worker(store, jobs));
    measured.samples.push_back(rate);
    tell("drain", rate, measured.unit);
  }
  return std::vector<Measured>{std::move(measured)};
}

Result<std::vector<Measured>> BenchRun::latency() {
  MR_TRY(auto store, connect());
  MR_TRY_VOID(set_up(store));
  const auto jobs = options_.jobs.value_or(200);
  std::vector<Measured> results;
  for (const char* from : {"commit", "call"}) {
    for (const char* rank : {"p50", "p95", "p99"}) {
      results.push_back(
          {.name = fmt::format("from {} to handler, {}", from, rank), .unit = "ms", .samples = {}});
    }
  }
  for (int repeat = 0; repeat < options_.repeats; ++repeat) {
    Tally tally(jobs);
    Pickup pickup;
    auto engine = make_engine(tally, &pickup);
    engine->start();
    (void)engine->wait_ready(kPatience);
    struct Sent {
      JobId id;
      Clock::Steady called;
      Clock::Steady returned;
    };
    std::vector<Sent> sent;
    for (std::int64_t i = 0; i < jobs; ++i) {
      const auto called = context_.clock.now();
      MR_TRY(const auto ids, store.enqueue_array(kType, {payload(i)}, {{"queue", kQueue}}));
      sent.push_back({ids.front(), called, context_.clock.now()});
      std::this_thread::sleep_until(called + 20ms);  // The pace of the measurement.
    }
    MR_TRY_VOID(await_jobs(*engine, tally));
    engine->drain();
    MR_TRY_VOID(engine->join());
    std::vector<double> from_commit;
    std::vector<double> from_call;
    for (const auto& one : sent) {
      const auto at = pickup.started.at(one.id);
      // A worker can be faster than the answer to the one who enqueued.
      from_commit.push_back(std::max(0.0, Milliseconds(at - one.returned).count()));
      from_call.push_back(Milliseconds(at - one.called).count());
    }
    std::size_t next = 0;
    for (const auto* values : {&from_commit, &from_call}) {
      for (const double share : {0.50, 0.95, 0.99}) {
        results[next++].samples.push_back(percentile(*values, share));
      }
    }
    tell("latency from commit, p50", percentile(from_commit, 0.5), "ms");
  }
  return results;
}

Result<std::vector<Measured>> BenchRun::depth() {
  MR_TRY(auto store, connect());
  MR_TRY_VOID(set_up(store));
  const auto jobs = options_.jobs.value_or(20'000);
  std::vector<Measured> results;
  for (const auto backlog : options_.depths) {
    Measured measured{
        .name = fmt::format("{} jobs, backlog {}", group_digits(jobs), group_digits(backlog)),
        .samples = {}};
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      MR_TRY(const auto counts, store.counts(kQueue));
      MR_TRY_VOID(fill(store, std::max<std::int64_t>(0, jobs + backlog - counts.live())));
      MR_TRY(const auto rate, time_worker(store, jobs));
      measured.samples.push_back(rate);
      tell(measured.name, rate, measured.unit);
    }
    MR_TRY_VOID(empty_queue(store));
    results.push_back(std::move(measured));
  }
  return results;
}

}  // namespace millrace::app
