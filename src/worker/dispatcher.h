// Dispatcher: holds what was claimed and runs it on the slots.
//
// Flow: the Fetcher hands in claimed jobs; each waits for a slot, runs its handler, and settles. A
// slot is free again only when the result is durable and the handler has really returned. Whoever
// knows a reason to stop a job (time, cancel request, lost lease, drain) says so here; the first
// reason decides the outcome, whatever the handler returns afterwards.
// Threading: one strand. Lifetime: everything it refers to outlives it; idle() before it goes away.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/spawn.h"
#include "store/job_store.h"
#include "worker/handler_registry.h"
#include "worker/job_run.h"
#include "worker/options.h"
#include "worker/reporter.h"
#include "worker/settler.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::worker {

class Dispatcher {
 public:
  struct Services {
    store::JobStore& store;
    Settler& settler;
    Reporter& reporter;
    Clock& clock;
    Logger& log;
    std::function<bool()> leased;  // The process lease is held, as far as our clock can say.
  };

  Dispatcher(Executor executor, Services services, const Options& options,
             const HandlerRegistry& handlers);

  // For the Fetcher.
  int claimable() const;  // How many more jobs there is use for.
  void accept(std::vector<ClaimedJob> jobs, const store::WorkerKey& key, Clock::Steady asked_at);
  // Jobs that came too late to be run here: back at once.
  void return_unused(std::vector<ClaimedJob> jobs, const store::WorkerKey& key);
  // Leases of this process that it never heard of: back at once as well.
  void return_unheld(const std::vector<store::HeldLease>& leases, const store::WorkerKey& key);
  std::vector<LeaseToken> held_tokens() const;
  Event changed() const { return changed_; }  // Set whenever claimable() may have grown.

  // For whoever learns that a job must stop.
  void cancel(JobId id, LeaseToken token, std::string reason);
  void lose_all();                    // The process lease is gone.
  void hand_back_waiting();           // Unstarted jobs go back; nothing starts any more.
  void stop_all(std::string reason);  // Running ones are stopped and go back.

  // Once in a while: returns what waited too long, extends the leases of what runs long.
  awaitable<void> look_after_leases();

  std::size_t running() const { return slots_used_; }
  std::size_t waiting() const { return waiting_.size(); }
  bool idle() const { return runs_.empty() && slots_used_ == 0; }
  // A coroutine refers to it still: of a job, or of a handler that ignores its token.
  bool referred_to() const { return tasks_.running() > 0; }
  // Nothing is held any more; handlers that ignore their token may still occupy a slot.
  bool all_settled() const { return runs_.empty(); }
  std::size_t stuck() const { return stuck_; }
  struct Totals {
    std::uint64_t settled = 0;
    std::uint64_t fenced = 0;
  };
  const Totals& totals() const { return totals_; }
  awaitable<void> join() { return tasks_.join(); }

 private:
  using Run = std::shared_ptr<JobRun>;

  Run make_run(ClaimedJob job, const store::WorkerKey& key);
  void return_jobs(std::vector<ClaimedJob> jobs, const store::WorkerKey& key);
  void start_waiting();
  awaitable<void> run_job(Run run);
  awaitable<void> call_handler(Run run, const HandlerEntry* entry);
  awaitable<void> wait_for_end(Run run, const HandlerEntry* entry);
  awaitable<void> finish(Run run);
  awaitable<void> settle_unstarted(Run run, Outcome outcome);
  awaitable<Answer> settle(Run run, Outcome outcome);
  Outcome decide(JobRun& run) const;
  void stop(JobRun& run, StopCause cause, std::string reason);
  void forget(const Run& run);
  void return_aged(Clock::Steady now);
  awaitable<void> extend(std::string worker_id, std::vector<Run> runs);
  void note_answer(const JobRun& run, const Outcome& outcome, Answer answer);
  int prefetch() const;

  Services services_;
  const Options& options_;
  const HandlerRegistry& handlers_;
  TaskGroup tasks_;
  std::unordered_map<LeaseToken, Run> runs_;  // All that is held, until the fence has answered.
  std::deque<Run> waiting_;
  std::size_t slots_used_ = 0;
  std::size_t stuck_ = 0;
  bool draining_ = false;
  double average_run_ms_ = -1;  // Of recent jobs; negative until there is one.
  Event changed_;
  Totals totals_;
};

}  // namespace millrace::worker
