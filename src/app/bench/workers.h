// WorkerGroup: real `millrace worker` processes with handlers for the bench, or a `millrace serve`,
// started and stopped like an operator would.
//
// start() returns when every process has registered, so that no measurement contains a start-up.
// The processes end with the thread that started them. Movable.
#pragma once

#include "app/bench/world.h"
#include "cluster/process.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

struct WorkerSpec {
  int processes = 1;
  int slots = 64;
  std::optional<int> prefetch = {};  // Empty: as the worker ships.
};

class WorkerGroup {
 public:
  static Result<WorkerGroup> start(const World& world, const WorkerSpec& spec);
  // One process whose handler appends to `times` when it started each job of kClockQueue.
  static Result<WorkerGroup> start_clock(const World& world, const std::filesystem::path& times);
  // `millrace serve` with these settings besides the bench's database; `url` is where it listens.
  static Result<WorkerGroup> start_server(const World& world, const std::string& settings,
                                          std::string& url);

  WorkerGroup(WorkerGroup&&) noexcept = default;
  WorkerGroup& operator=(WorkerGroup&&) noexcept = default;
  ~WorkerGroup();

  // SIGTERM, then waits until all have left in order.
  Result<void> stop();
  // The one process, or the supervisor of several.
  pid_t pid() const { return process_.pid(); }
  bool running() const { return process_.running(); }
  std::int64_t resident() const;  // Bytes of all processes of the group together.

 private:
  explicit WorkerGroup(cluster::Process process) : process_(std::move(process)) {}
  static Result<WorkerGroup> launch(const World& world, const std::string& name,
                                    const std::string& settings,
                                    std::vector<std::string> arguments);
  cluster::Process process_;
};

// The part of millrace.toml that names the bench's database.
std::string database_settings(const World& world);
// The text of millrace.toml for a worker of the bench.
std::string worker_settings(const World& world, const WorkerSpec& spec);

}  // namespace millrace::app
