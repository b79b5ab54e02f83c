// World: one seed, lived through. Worker processes and keepers on a model database, the faults of
// the plan, and the Checks that watch.
//
// Life: faults happen until plan.calm_from; from then on everything goes well and every job must
// come to its end within plan.patience. Then all processes are asked to leave, and must.
#pragma once

#include "base/log.h"
#include "keeper/keeper.h"
#include "sim/checks.h"
#include "sim/link.h"
#include "sim/loop.h"
#include "sim/plan.h"
#include "worker/runtime.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::sim {

struct WorldResult {
  std::optional<Violation> violation;
  std::uint64_t digest = 0;  // Of everything that happened: equal for equal seeds.
  std::uint64_t steps = 0;
  Time lasted{0};
};

class World {
 public:
  World(std::uint64_t seed, Coverage& coverage, bool trace = false);
  ~World();

  WorldResult run();
  const Checks& checks() const { return checks_; }

 private:
  friend class ScriptedHandler;
  struct Process;

  // Processes.
  void start_worker(int place);
  void start_keeper(int place);
  worker::HandlerRegistry make_handlers(int process);
  awaitable<void> run_worker(Process* process);
  awaitable<void> stop_keeper(Process* process);
  void crash(int process);  // At the end of this step.
  void leave(int process, bool killed);
  void bury();
  void hand_back(const Process& process);
  std::vector<Process*> living(bool keepers);
  void drain(Process& process, bool hurried);
  void check_drain(const Process& process);

  // What happens.
  void schedule();
  void enqueue(std::size_t job);
  void strike(const Fault& fault);
  bool cancel_prefetched(const Fault& fault);
  void cancel(std::size_t job);
  std::size_t aim(const Fault& fault);
  void pause(Process& process, const Fault& fault);
  bool step();
  bool run_until_done();
  void close();

  const WorldPlan plan_;
  Loop loop_;
  Checks checks_;
  Dice chance_;
  Database database_;
  const bool trace_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::pair<int, bool>> leaving_;  // Process, and whether it was killed.
  std::vector<int> runs_;                      // By job: how often its handler was started.
  std::size_t to_enqueue_ = 0;
  bool closing_ = false;
};

}  // namespace millrace::sim
