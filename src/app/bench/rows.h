// The benches by name; each measures `repeats` times and returns its cases.
#pragma once

#include "app/bench/load.h"
#include "app/bench/workers.h"
#include "app/bench/world.h"

#include <functional>
#include <vector>

namespace millrace::app {

using Cases = Result<std::vector<Measured>>;

// How producers get jobs in: singly, in arrays, by COPY; with one and with several clients.
Cases bench_enqueue(World& world);
// Single calls of many threads joined into few commits by the C++ client.
Cases bench_coalesced(World& world);
// A backlog of jobs that do nothing, until the last is settled, by 1, 2, ... processes.
Cases bench_drain(World& world);
// The same number of jobs from the head of small and large backlogs.
Cases bench_depth(World& world);
// A provider's limit and keys of concurrency, none of which binds: on and off.
Cases bench_limits(World& world);
Cases bench_keys(World& world);
// Jobs of which a fifth fails once.
Cases bench_retries(World& world);
// Handlers that take 1 ms, 50 ms and 5 s: the share of what so many slots could do.
Cases bench_handlers(World& world);
// Producers and workers together for a time; and with a snapshot held by somebody else.
Cases bench_sustained(World& world);
Cases bench_held(World& world);
// From the commit of a single enqueue to the start of its handler.
Cases bench_latency(World& world);
// What a worker process takes that has nothing to do.
Cases bench_idle(World& world);
// What people ask, with many finished jobs.
Cases bench_lists(World& world);
// Status reads and durable enqueues over HTTP.
Cases bench_http(World& world);
// Many open event streams: memory, and how soon all of them hear of a job.
Cases bench_streams(World& world);
// Many uploads at once, and a large one: memory, speed, and none lost.
Cases bench_uploads(World& world);
// A steady rate for a long time, and whether anything grows.
Cases bench_soak(World& world);

// One measured drain: the queue is filled while it is paused, the workers are ready, then it is
// resumed.
struct DrainPlan {
  WorkerSpec workers;
  std::int64_t jobs = 0;     // To be settled; the clock stops there.
  std::int64_t backlog = 0;  // Left behind.
  std::function<Result<void>(store::AdminStore& store, std::int64_t missing)> fill;
};
// Appends the rate to `measured`, and the cost.
Result<void> drain_once(World& world, const DrainPlan& plan, Measured& measured);
// Until `jobs` more than `before` have completed; returns how many more it were.
Result<std::int64_t> await_completed(const World& world, store::AdminStore& store,
                                     std::int64_t before, std::int64_t jobs,
                                     const WorkerGroup& workers);

// When each job's handler started, by the realtime clock in milliseconds, as the clock worker wrote
// it from `offset` on.
struct Started {
  std::vector<std::pair<std::string, double>> jobs;
  std::size_t offset = 0;  // Where to read on.
};
Result<Started> read_times(const std::filesystem::path& times, std::size_t offset);
double realtime_ms();

}  // namespace millrace::app
