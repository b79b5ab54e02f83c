// Supervisor: runs several worker processes and looks after them.
//
// Flow: starts `processes` children from one command line and restarts what dies, with backoff. A
// child reports its worker id (SupervisorLink); when it dies without having drained, its leases are
// handed back at once instead of waiting for them to expire. stop() passes SIGTERM on and waits;
// kill() kills. Threading: run on one strand; stop() and kill() from anywhere. The thread that runs
// the executor must live as long as the children: they die with it. Lifetime: store, clock, random
// and log outlive it.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/random.h"
#include "base/spawn.h"
#include "base/task.h"
#include "store/job_store.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace millrace::worker {

struct SupervisorOptions {
  // Of a child, argv[0] being a path: {"/proc/self/exe", "worker", ...}. "--supervisor-id ID" and
  // "--child FD:PID" are added.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // The whole environment of a child.
  int processes = 1;
  std::string supervisor_id;
  std::chrono::milliseconds restart_min{200};
  std::chrono::milliseconds restart_max{5'000};
  std::chrono::milliseconds stable_after{10'000};  // A child that lived so long restarts quickly.
  std::chrono::milliseconds stop_timeout{60'000};  // From SIGTERM to SIGKILL.
  std::chrono::milliseconds hand_back_timeout{30'000};
  std::function<void()>
      on_ready;  // Called once, when every child has registered for the first time.
};

class Supervisor {
 public:
  struct Services {
    store::JobStore& store;
    Clock& clock;
    Random& random;
    Logger& log;
  };

  Supervisor(Executor executor, Services services, SupervisorOptions options);

  awaitable<void> run();  // Ends after stop() or kill(), when no child is left.
  void stop();
  void kill();

  // The children that run now.
  std::vector<int> pids() const;
  std::size_t restarts() const { return restarts_; }

 private:
  struct Slot {
    int pid = 0;  // 0: none.
    bool registered_once = false;
    std::vector<std::string> worker_ids;  // Of the child that runs.
  };

  awaitable<void> keep_running(std::size_t index);
  awaitable<bool> run_child(std::size_t index);  // True when it was stable.
  awaitable<void> stop_child(std::size_t index, Event ended);
  awaitable<void> hand_back(std::vector<std::string> worker_ids);
  void take_line(std::size_t index, std::string_view line);
  std::vector<std::string> child_argv() const;

  Services services_;
  SupervisorOptions options_;
  TaskGroup tasks_;
  std::vector<Slot> slots_;
  Event stopping_;
  Event killing_;
  std::size_t restarts_ = 0;
  bool told_ready_ = false;
};

}  // namespace millrace::worker
