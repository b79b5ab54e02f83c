// From the commit of a single enqueue by a plain client to the start of its handler in an idle
// worker process, one job at a time. Both ends read CLOCK_REALTIME of the same machine.
#include "app/bench/rows.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

struct Sent {
  std::string id;
  double called = 0;
  double returned = 0;
};

Result<std::vector<Sent>> send_jobs(World& world, store::PlainClient& client, std::int64_t jobs) {
  const auto options = fmt::format(R"({{"queue":"{}"}})", kClockQueue);
  std::vector<Sent> sent;
  for (std::int64_t i = 0; i < jobs; ++i) {
    const auto pace = world.context().clock.now() + 20ms;
    const auto payload = world.payload(i);
    Sent one{.called = realtime_ms()};
    MR_TRY(one.id, client.call({kClockType, payload, options}));
    one.returned = realtime_ms();
    sent.push_back(std::move(one));
    world.pause_until(pace);
  }
  return sent;
}

Result<std::map<std::string, double>> await_times(World& world, const std::filesystem::path& times,
                                                  std::size_t jobs) {
  const auto begin = world.context().clock.now();
  for (;;) {
    MR_TRY(const auto started, read_times(times, 0));
    std::map<std::string, double> by_job;
    for (const auto& [id, at] : started.jobs) by_job.try_emplace(id, at);
    if (by_job.size() >= jobs) return by_job;
    if (world.since(begin) > 30) {
      return fail(ErrorKind::unavailable, "the worker did not start all jobs");
    }
    world.pause_until(world.context().clock.now() + 20ms);
  }
}

Result<void> measure(World& world, Measured& from_commit, Measured& from_call) {
  const auto jobs = world.options().jobs.value_or(200);
  const auto times = world.folder() / "times.txt";
  std::error_code ignored;
  std::filesystem::remove(times, ignored);
  MR_TRY(auto workers, WorkerGroup::start_clock(world, times));
  MR_TRY(auto client, store::PlainClient::connect(world.database().url,
                                                  std::string(store::enqueue_job_statement())));
  // The first calls of a connection plan and load what later ones find ready, in peers as well.
  constexpr std::int64_t kWarmUp = 10;
  MR_TRY(const auto early, send_jobs(world, client, std::min(kWarmUp, jobs)));
  MR_TRY(const auto sent, send_jobs(world, client, jobs));
  MR_TRY(const auto started, await_times(world, times, sent.size() + early.size()));
  MR_TRY_VOID(workers.stop());
  std::vector<double> commit;
  std::vector<double> call;
  for (const auto& one : sent) {
    const auto at = started.at(one.id);
    // A worker can be faster than the answer to the one who enqueued.
    commit.push_back(std::max(0.0, at - one.returned));
    call.push_back(at - one.called);
  }
  from_commit.samples.push_back(percentile(commit, 0.5));
  from_call.samples.push_back(percentile(call, 0.5));
  from_commit.times.insert(from_commit.times.end(), commit.begin(), commit.end());
  from_call.times.insert(from_call.times.end(), call.begin(), call.end());
  world.tell("from commit, p50", from_commit.samples.back(), "ms");
  return {};
}

}  // namespace

Cases bench_latency(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  Measured from_commit{.name = "from commit to handler", .unit = "ms", .samples = {}};
  Measured from_call{.name = "from call to handler", .unit = "ms", .samples = {}};
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    MR_TRY_VOID(measure(world, from_commit, from_call));
  }
  return std::vector<Measured>{std::move(from_commit), std::move(from_call)};
}

}  // namespace millrace::app
