// Load: the producers of a bench. Each client is a thread with a connection of its own, connected
// before the clock starts.
#pragma once

#include "app/bench/world.h"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace millrace::app {

// What one client does: until `stop`, at most `jobs` of them; returns how many it did.
struct ClientRun {
  int number = 0;
  std::int64_t jobs = 0;
  const std::atomic<bool>& stop;
};
using ClientWork = std::function<Result<std::int64_t>(const ClientRun& run)>;

struct LoadResult {
  std::int64_t jobs = 0;
  double seconds = 0;
  double rate() const { return seconds > 0 ? static_cast<double>(jobs) / seconds : 0; }
};

// Runs one work per client at once, for at most `seconds` when that is not zero.
Result<LoadResult> run_clients(const World& world, std::int64_t jobs, double seconds,
                               const std::vector<ClientWork>& clients);

// Work of clients whose connections are made here.
Result<std::vector<ClientWork>> single_clients(World& world, int clients);
Result<std::vector<ClientWork>> array_clients(World& world, int clients, int batch);
Result<std::vector<ClientWork>> copy_clients(World& world, int clients, int batch);

// Puts jobs that do nothing into the bench queue, as fast as this engine can.
Result<void> fill(World& world, std::int64_t jobs);
// The same with payload and key of the caller's choice.
Result<void> fill_rows(store::AdminStore& store, const std::string& type, std::int64_t jobs,
                       const std::function<store::IntakeRow(std::int64_t)>& row);

}  // namespace millrace::app
