// Runtime: a worker process. Claims jobs, runs their handlers, records their outcomes.
//
//   io thread                                                        other threads
//   ProcessLease ── beats ──▶ JobStore                               blocking handlers
//   Fetcher ── claim ──▶ Dispatcher ── slots ──▶ Handler ──────────▶ (JobContext is thread-safe)
//                             └─ outcome ──▶ Settler ── batch ──▶ JobStore
//   Reporter ◀── progress, log lines ── JobContext
//
// Life: run() registers and works until drain(); then it stops claiming, hands back what has not
// started, lets the rest finish within drain_timeout, stops and hands back what is left (no attempt
// is charged for either), retires, and returns. kill() cuts this short and leaves leases to expire.
// Threading: construct, run and read on one executor (one thread or a strand); drain() and kill()
// from anywhere. Lifetime: everything handed in outlives it.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "store/job_store.h"
#include "store/wake_source.h"
#include "worker/handler_registry.h"
#include "worker/options.h"

#include <cstdint>
#include <memory>
#include <string>

namespace millrace::worker {

struct RunReport {
  std::uint64_t settled = 0;  // Outcomes that the database has, hand-backs included.
  std::uint64_t fenced = 0;   // Outcomes that came too late.
  bool killed = false;
  // Handlers that ignored being stopped and still run. Their threads cannot be ended: the process
  // must leave by std::_Exit.
  std::size_t stuck_handlers = 0;
};

struct RunStatus {
  std::string worker_id;  // Empty while not registered.
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::size_t unsettled = 0;  // Ended, and not yet durable.
  std::uint64_t settled = 0;
  std::uint64_t fenced = 0;
  bool draining = false;
};

class Runtime {
 public:
  struct Services {
    store::JobStore& store;
    store::WakeSource* wake = nullptr;  // Null: polling only.
    Clock& clock;
    Random& random;
    Logger& log;
  };

  Runtime(Executor executor, Services services, Options options, HandlerRegistry handlers);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Once. Fails only at the start, when the database refuses what the worker needs (no such queue,
  // no permission); a database that is away is waited for.
  Task<RunReport> run();

  void drain();
  void kill();

  RunStatus status() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::worker
