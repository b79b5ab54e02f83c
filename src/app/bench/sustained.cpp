// Producers and workers together, in a closed loop: producers wait while the backlog is large, so
// the slower side sets the pace. With a snapshot held by another session, and without.
#include "app/bench/rows.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kBacklogMax = 50'000;
constexpr int kProducers = 2;
constexpr auto kSampleEvery = 250ms;

// Threads that copy jobs in until they are told to stop or to wait.
class Producers {
 public:
  Producers(World& world, int batch) : world_(world), batch_(batch) {}
  ~Producers() { stop(); }
  Producers(const Producers&) = delete;
  Producers& operator=(const Producers&) = delete;

  Result<void> start(int count) {
    MR_TRY(works_, copy_clients(world_, count, batch_));
    for (auto& work : works_) threads_.emplace_back([this, &work] { run(work); });
    return {};
  }
  void set_waiting(bool waiting) { waiting_ = waiting; }
  bool failed() const { return failed_; }
  void stop() {
    stop_ = true;
    threads_.clear();  // Waits for each.
    works_.clear();
  }

 private:
  void run(const ClientWork& work) {
    while (!stop_) {
      if (waiting_) {
        world_.pause_until(world_.context().clock.now() + 2ms);
      } else if (!work({.jobs = batch_, .stop = stop_})) {
        failed_ = true;
        return;
      }
    }
  }

  World& world_;
  const int batch_;
  std::vector<ClientWork> works_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> waiting_ = false;
  std::atomic<bool> failed_ = false;
  std::vector<std::jthread> threads_;
};

struct SustainedRun {
  std::vector<Progress> series;
  Cost cost;
  double seconds = 0;
};

Result<void> sample_until(World& world, store::AdminStore& store, Producers& producers,
                          const WorkerGroup& workers, SustainedRun& run, double seconds) {
  MR_TRY(const auto first, store.counts(kBenchQueue));
  const auto& clock = world.context().clock;
  const auto begin = clock.now();
  auto next = begin;
  for (;;) {
    MR_TRY(const auto counts, store.counts(kBenchQueue));
    producers.set_waiting(counts.live() > kBacklogMax);
    run.series.push_back({.at = world.since(begin), .done = counts.completed - first.completed});
    if (run.series.back().at >= seconds) return {};
    if (producers.failed()) return fail(ErrorKind::unavailable, "a producer failed");
    if (!workers.running()) return fail(ErrorKind::unavailable, "the workers ended");
    next += kSampleEvery;
    world.pause_until(std::max(next, clock.now() + 20ms));
  }
}

// How many have completed when nothing is left.
Result<std::int64_t> await_empty(World& world, store::AdminStore& store,
                                 const WorkerGroup& workers) {
  MR_TRY(const auto counts, store.counts(kBenchQueue));
  MR_TRY_VOID(await_completed(world, store, counts.completed, counts.live(), workers));
  return counts.completed + counts.live();
}

Result<SustainedRun> sustain(World& world, double seconds, bool held) {
  MR_TRY_VOID(world.fresh());
  MR_TRY(auto store, world.connect());
  MR_TRY(const auto quiet, store::other_sessions(store.connection()));
  MR_TRY_VOID(world.set_up(store));
  const auto& given = world.options().processes;
  MR_TRY(auto workers,
         WorkerGroup::start(world, {.processes = given.empty() ? 2 : static_cast<int>(given[0]),
                                    .slots = world.options().slots,
                                    .prefetch = world.options().prefetch}));
  store::checkpoint(store.connection());
  pg::SyncConnection holder;
  if (held) {
    MR_TRY(auto connected, world.connect());
    holder = std::move(connected.connection());
    MR_TRY_VOID(store::hold_snapshot(holder));
  }
  Producers producers(world, world.options().batch);
  SustainedRun run;
  MR_TRY(const auto first, store.counts(kBenchQueue));
  MR_TRY(const auto before, world.read(store));
  MR_TRY_VOID(store.resume_queue(kBenchQueue));
  MR_TRY_VOID(producers.start(kProducers));
  MR_TRY_VOID(sample_until(world, store, producers, workers, run, seconds));
  producers.stop();
  // What a job cost is known when none is half done: the backlog is run to its end first.
  MR_TRY(const auto total, await_empty(world, store, workers));
  MR_TRY(const auto drained, world.read(store));
  MR_TRY_VOID(workers.stop());
  holder.close();
  MR_TRY(const auto after, world.read_after(store, quiet));
  run.seconds = seconds;
  run.cost = cost_between(before, drained, after, total - first.completed);
  return run;
}

// Jobs a second for every second, for the plot.
json::Array per_second(const SustainedRun& run) {
  json::Array rates;
  for (double at = 0; at + 1 <= run.seconds + 0.5; at += 1) {
    rates.emplace_back(std::round(rate_between(run.series, at, at + 1)));
  }
  return rates;
}

void record(World& world, const SustainedRun& run, Measured& measured) {
  const double whole = run.seconds;
  const double window = std::min(10.0, whole / 3);
  const auto add = [&](const char* key, double value) {
    auto& list = measured.extra[key];
    if (!list.is_array()) list = json::Array();
    list.as_array().emplace_back(std::round(value));
  };
  measured.samples.push_back(rate_between(run.series, 0, whole));
  add("first_10s", rate_between(run.series, 0, window));
  add("last_10s", rate_between(run.series, whole - window, whole));
  add("last_30s", rate_between(run.series, whole - std::min(30.0, whole / 2), whole));
  if (!measured.extra.contains("series")) measured.extra["series"] = json::Array();
  measured.extra["series"].as_array().emplace_back(per_second(run));
  measured.extra["seconds"] = whole;
  measured.cost += run.cost;
  world.tell(measured.name, measured.samples.back(), measured.unit);
}

double seconds_of(const World& world) {
  return world.options().seconds > 0 ? world.options().seconds : 60;
}

}  // namespace

Cases bench_sustained(World& world) {
  Measured measured{.name = "producers and workers", .samples = {}};
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    MR_TRY(const auto run, sustain(world, seconds_of(world), false));
    record(world, run, measured);
  }
  return std::vector<Measured>{std::move(measured)};
}

Cases bench_held(World& world) {
  Measured control{.name = "control", .samples = {}};
  Measured held{.name = "snapshot held", .samples = {}};
  Measured ratio{.name = "held / control, last 30 s", .unit = "ratio", .samples = {}};
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    double last[2] = {0, 0};
    for (int turn = 0; turn < 2; ++turn) {
      // Neither always comes second.
      const bool held_first = (repeat % 2 == 1) != world.options().held_first;
      const bool hold = (turn == 0) == held_first;
      MR_TRY(const auto run, sustain(world, seconds_of(world), hold));
      record(world, run, hold ? held : control);
      const double whole = run.seconds;
      last[hold ? 1 : 0] = rate_between(run.series, whole - std::min(30.0, whole / 2), whole);
    }
    ratio.samples.push_back(last[0] > 0 ? last[1] / last[0] : 0);
  }
  return std::vector<Measured>{std::move(control), std::move(held), std::move(ratio)};
}

}  // namespace millrace::app
