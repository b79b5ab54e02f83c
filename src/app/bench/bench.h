// Bench: how fast this machine enqueues, drains, picks up, and how depth changes that.
//
// Each case is measured `repeats` times and reported as median and spread with the conditions it
// was measured under. It runs in a throw-away private cluster, or in a database that is given; one
// that holds other jobs is refused.
#pragma once

#include "app/bench/sample.h"
#include "app/context.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

struct BenchOptions {
  std::vector<std::string> what;  // enqueue, drain, latency, depth
  int repeats = 3;
  std::optional<std::int64_t> jobs;  // Per repeat; each bench has its own usual number.
  std::int64_t payload_bytes = 64;
  int clients = 4;
  int batch = 1000;  // Jobs in one call.
  int slots = 64;
  int prefetch = 2'000;
  std::vector<std::int64_t> depths{1'000, 100'000};
  std::filesystem::path folder = "build/bench";
  bool force = false;
};

Result<int> run_bench(Context& context, const BenchOptions& options);

}  // namespace millrace::app
