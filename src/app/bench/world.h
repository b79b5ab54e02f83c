// World: the database of a bench and everything a measurement needs of it.
//
// Owns the private cluster when it started one. Flow: a bench asks for a fresh database, fills the
// queue while it is paused, starts workers, resumes, and reads the meter before and after.
#pragma once

#include "app/bench/bench.h"
#include "app/bench/proc.h"
#include "app/context.h"
#include "app/database.h"
#include "app/private_database.h"
#include "store/bench_store.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace millrace::app {

inline constexpr const char* kBenchQueue = "bench";
inline constexpr const char* kNoopType = "bench";           // Does nothing.
inline constexpr const char* kLimitedType = "bench_limit";  // The same, bound to a provider.
inline constexpr const char* kSleepType = "bench_sleep";    // Does what the payload says.
inline constexpr const char* kClockType = "bench_clock";    // Notes when it started.
inline constexpr const char* kClockQueue = "bench_clock";

// Everything that is counted at one moment.
struct Reading {
  store::ServerCounters server;
  double server_cpu = 0;
  double client_cpu = 0;
  Clock::Steady at;
};

class World {
 public:
  World(Context& context, const BenchOptions& options);
  ~World();

  Result<void> open();
  // Stops the cluster if it is the bench's own. Whoever uses it gets errors from then on.
  void close();
  // An empty database again; nothing where the database was given, there the old jobs stay.
  Result<void> fresh();
  // Queues and types of the bench, the queue paused.
  Result<void> set_up(store::AdminStore& store);
  Result<json::Object> describe();

  Context& context() const { return context_; }
  const BenchOptions& options() const { return options_; }
  const Database& database() const { return database_; }
  // The process of the server, 0 when it is not on this machine.
  pid_t server_pid() const { return server_pid_; }
  // Absolute, for other processes.
  const std::filesystem::path& folder() const { return folder_; }

  Result<store::AdminStore> connect() { return context_.connect_to(database_); }
  std::string payload(std::int64_t number) const;
  Result<Reading> read(store::AdminStore& store) const;
  // When the clients have left: waits a moment until their backends have reported and ended, that
  // is until no more than `quiet` other sessions are there.
  Result<Reading> read_after(store::AdminStore& store, std::int64_t quiet) const;
  void tell(const std::string& name, double value, const std::string& unit) const;
  // Seconds since `begin`.
  double since(Clock::Steady begin) const;
  void pause_until(Clock::Steady time) const;

 private:
  Result<void> open_given();
  Result<void> open_served();
  Result<void> open_private();
  Result<void> find_server();

  Context& context_;
  const BenchOptions& options_;
  std::filesystem::path folder_;
  Database database_;
  std::unique_ptr<PrivateDatabase> private_;
  pid_t server_pid_ = 0;
  bool used_ = false;  // The first bench finds the database fresh.
};

// Commits and rows come from `after`, which is read when all backends have reported them; the rest
// from the two moments that enclose the measurement.
Cost cost_between(const Reading& before, const Reading& end, const Reading& after,
                  std::int64_t jobs);

// Where 'bench serve' says that it runs.
std::filesystem::path serving_file(const std::filesystem::path& folder);
std::filesystem::path cluster_folder(const std::filesystem::path& folder);
// Room for the connections of 64 worker processes.
std::string cluster_settings();

}  // namespace millrace::app
