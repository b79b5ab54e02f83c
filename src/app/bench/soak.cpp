// A steady rate for a long time: does memory, disk or latency grow? Settings of the database such
// as short partitions and a short retention come from the command line, so that the run sees many
// of both.
#include "app/bench/rows.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr int kProducers = 2;
constexpr auto kProbeEvery = 50ms;

// Copies jobs in at a fixed rate, whatever happens on the other side.
class PacedProducer {
 public:
  PacedProducer(World& world, double rate) : world_(world), rate_(rate) {}
  ~PacedProducer() { stop(); }
  PacedProducer(const PacedProducer&) = delete;
  PacedProducer& operator=(const PacedProducer&) = delete;

  Result<void> start() {
    MR_TRY(works_, copy_clients(world_, kProducers, batch()));
    for (auto& work : works_) threads_.emplace_back([this, &work] { run(work); });
    return {};
  }
  bool failed() const { return failed_; }
  // The longest that it was late: when it grows the rate was not kept.
  double late_seconds() const { return late_; }
  void stop() {
    stop_ = true;
    threads_.clear();
    works_.clear();
  }

 private:
  int batch() const { return std::max(1, static_cast<int>(std::min(500.0, rate_ / 20))); }

  void run(const ClientWork& work) {
    const auto& clock = world_.context().clock;
    const auto step =
        std::chrono::duration_cast<Clock::Duration>(Seconds(batch() * kProducers / rate_));
    auto next = clock.now();
    while (!stop_) {
      if (!work({.jobs = batch(), .stop = stop_})) {
        failed_ = true;
        return;
      }
      next += step;
      late_ = std::max(late_.load(), Seconds(clock.now() - next).count());
      world_.pause_until(next);
    }
  }

  World& world_;
  const double rate_;
  std::vector<ClientWork> works_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<double> late_ = 0;
  std::vector<std::jthread> threads_;
};

struct Point {
  double at = 0;
  double resident_mb = 0;
  double relations_mb = 0;
  double p99_ms = 0;
  std::vector<double> waits_ms = {};  // Of the single jobs since the point before.
  double rate = 0;
  double backlog = 0;
};

// Single jobs beside the load, whose pickup is timed.
class Probe {
 public:
  static Result<Probe> start(World& world) {
    const auto times = world.folder() / "soak_times.txt";
    std::error_code ignored;
    std::filesystem::remove(times, ignored);
    MR_TRY(auto workers, WorkerGroup::start_clock(world, times));
    MR_TRY(auto client, store::PlainClient::connect(world.database().url,
                                                    std::string(store::enqueue_job_statement())));
    return Probe(times, std::move(workers), std::move(client));
  }

  Result<void> send(const World& world) {
    MR_TRY(const auto id, client_.call({kClockType, world.payload(0),
                                        fmt::format(R"({{"queue":"{}"}})", kClockQueue)}));
    sent_[id] = realtime_ms();
    return {};
  }
  // Of the jobs that started since the last call, in milliseconds.
  Result<std::vector<double>> waits() {
    MR_TRY(const auto started, read_times(times_, offset_));
    offset_ = started.offset;
    std::vector<double> waits;
    for (const auto& [id, at] : started.jobs) {
      const auto found = sent_.find(id);
      if (found == sent_.end()) continue;
      waits.push_back(std::max(0.0, at - found->second));
      sent_.erase(found);
    }
    return waits;
  }
  std::int64_t resident() const { return workers_.resident(); }
  Result<void> stop() { return workers_.stop(); }

 private:
  Probe(std::filesystem::path times, WorkerGroup workers, store::PlainClient client)
      : times_(std::move(times)), workers_(std::move(workers)), client_(std::move(client)) {}

  std::filesystem::path times_;
  WorkerGroup workers_;
  store::PlainClient client_;
  std::map<std::string, double> sent_;
  std::size_t offset_ = 0;
};

struct Soak {
  World& world;
  store::AdminStore& store;
  WorkerGroup& workers;
  Probe& probe;
  PacedProducer& producer;
};

Result<std::vector<Point>> watch(Soak& soak, double seconds, double every) {
  const auto& clock = soak.world.context().clock;
  std::vector<Point> points;
  MR_TRY(auto last, soak.store.counts(kBenchQueue));
  const auto begin = clock.now();
  double last_at = 0;
  auto next = begin;
  while (soak.world.since(begin) < seconds) {
    MR_TRY_VOID(soak.probe.send(soak.world));
    next += kProbeEvery;
    soak.world.pause_until(next);
    const double now = soak.world.since(begin);
    if (now - last_at < every) continue;
    if (soak.producer.failed()) return fail(ErrorKind::unavailable, "a producer failed");
    if (!soak.workers.running()) return fail(ErrorKind::unavailable, "the workers ended");
    MR_TRY(const auto counts, soak.store.counts(kBenchQueue));
    MR_TRY(const auto bytes, store::relation_bytes(soak.store.connection()));
    MR_TRY(auto waits, soak.probe.waits());
    const double p99 = percentile(waits, 0.99);
    points.push_back(
        {.at = now,
         .resident_mb = static_cast<double>(soak.workers.resident()) / 1e6,
         .relations_mb = static_cast<double>(bytes) / 1e6,
         .p99_ms = p99,
         .waits_ms = std::move(waits),
         .rate = static_cast<double>(counts.completed - last.completed) / (now - last_at),
         .backlog = static_cast<double>(counts.live())});
    soak.world.tell(fmt::format("{:.0f} s: {:.0f} jobs/s, {:.0f} MB on disk, p99 ms", now,
                                points.back().rate, points.back().relations_mb),
                    p99, "");
    last = counts;
    last_at = now;
  }
  return points;
}

Measured column(const std::vector<Point>& points, const std::string& name, const std::string& unit,
                double Point::* field, double from) {
  Measured measured{.name = name, .unit = unit, .samples = {}};
  std::vector<double> minutes;
  std::vector<double> values;
  json::Array series;
  for (const auto& point : points) {
    series.emplace_back(json::Array{std::round(point.at), point.*field});
    if (point.at < from) continue;
    minutes.push_back(point.at / 60);
    values.push_back(point.*field);
  }
  measured.samples = values;
  measured.extra["points"] = std::move(series);
  measured.extra["slope_from_second"] = from;
  const auto slope = fit_slope(minutes, values);
  if (slope) measured.extra["slope_per_minute"] = to_object(*slope);
  return measured;
}

}  // namespace

Cases bench_soak(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  for (const auto& [key, value] : world.options().configuration) {
    auto set = store::set_configuration(store.connection(), key, value);
    if (!set) return fail_with_context(fmt::format("--set {}", key), set.error());
  }
  MR_TRY_VOID(store.resume_queue(kBenchQueue));
  const double seconds = world.options().seconds > 0 ? world.options().seconds : 24 * 60;
  const auto& given = world.options().processes;
  MR_TRY(auto workers,
         WorkerGroup::start(world, {.processes = given.empty() ? 2 : static_cast<int>(given[0]),
                                    .slots = world.options().slots,
                                    .prefetch = world.options().prefetch}));
  MR_TRY(auto probe, Probe::start(world));
  PacedProducer producer(world, world.options().rate);
  MR_TRY_VOID(producer.start());
  Soak soak{world, store, workers, probe, producer};
  MR_TRY(const auto points, watch(soak, seconds, std::min(10.0, seconds / 12)));
  producer.stop();
  MR_TRY_VOID(probe.stop());
  MR_TRY_VOID(workers.stop());
  const double from = seconds / 3;  // The first third fills caches, partitions and retention.
  std::vector<Measured> results{
      column(points, "resident memory of the workers", "MB", &Point::resident_mb, from),
      column(points, "relations on disk", "MB", &Point::relations_mb, from),
      column(points, "pickup p99 beside the load", "ms", &Point::p99_ms, from),
      column(points, "settled", "jobs/s", &Point::rate, from),
      column(points, "backlog", "jobs", &Point::backlog, from)};
  results[3].extra["producer_late_seconds"] = producer.late_seconds();
  Measured pickup{.name = "pickup beside the load", .unit = "ms", .samples = {}};
  for (const auto& point : points) {
    if (point.at < from) continue;
    pickup.times.insert(pickup.times.end(), point.waits_ms.begin(), point.waits_ms.end());
  }
  pickup.samples = {percentile(pickup.times, 0.5)};
  results.push_back(std::move(pickup));
  return results;
}

}  // namespace millrace::app
