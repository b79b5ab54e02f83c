// Bench: how fast this machine enqueues, drains, picks up, and what changes that.
//
// Each case is measured `repeats` times and reported as median and spread, with what a job cost and
// the conditions it was measured under. It runs in a throw-away private cluster, or in a database
// that is given; one that holds other jobs is refused. Only what every user has is measured: SQL
// functions, COPY, worker processes.
#pragma once

#include "app/bench/sample.h"
#include "app/context.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

struct BenchOptions {
  std::vector<std::string> what;  // Names of bench_rows().
  int repeats = 3;
  std::optional<std::int64_t> jobs;  // Per repeat; each bench has its own usual number.
  std::int64_t payload_bytes = 110;
  std::vector<std::int64_t> clients;    // Empty: the bench's own.
  int batch = 1000;                     // Jobs in one array call.
  std::vector<std::int64_t> processes;  // Of workers; empty: the bench's own.
  int slots = 64;
  std::optional<int> prefetch;          // Empty: as the worker ships.
  double seconds = 0;                   // Of benches that run for a time; 0: their own.
  double rate = 20'000;                 // Jobs a second, for soak.
  int connections = 64;                 // Of the load over HTTP.
  std::int64_t upload_megabytes = 1;    // Of each of so many uploads at once.
  std::int64_t large_megabytes = 2000;  // Of the one upload that follows; 0: none.
  std::vector<std::int64_t> depths{1'000, 100'000};
  std::vector<std::pair<std::string, std::string>> configuration;  // In the database, for soak.
  std::filesystem::path folder = "build/bench";
  bool force = false;
  bool served = false;      // 'bench serve' runs the cluster in the folder.
  bool held_first = false;  // Of the two runs of 'held'; they take turns otherwise, too.
};

struct BenchRow {
  std::string name;
  std::string about;
  bool usual = true;  // Part of a plain 'millrace bench'.
};
const std::vector<BenchRow>& bench_rows();

Result<int> run_bench(Context& context, const BenchOptions& options);
// Runs the bench's private cluster until a signal, so that other programs can share it.
Result<int> serve_bench(Context& context, const std::filesystem::path& folder);
// A worker whose handler notes when it started, for the latency of a pickup.
Result<int> run_clock_worker(Context& context, const std::filesystem::path& times,
                             const std::filesystem::path& ready);

// One statement called by plain clients for a time: other queues are measured by the same code.
struct LoopOptions {
  std::string url;
  std::string statement;
  std::vector<std::string> params;
  int clients = 1;
  double seconds = 3;
};
Result<int> run_loop(Context& context, const LoopOptions& options);

}  // namespace millrace::app
