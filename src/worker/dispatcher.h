// Dispatcher: holds what was claimed and runs it on the slots.
//
// Flow: the Fetcher hands in claimed jobs; each waits for a slot and runs its handler; then the
// slot is free for the next, while the result goes to the Settler and the job is held until the
// fence has answered. Results that wait are bounded: when too many do, or when the database does
// not take them, nothing is started. Whoever knows a reason to stop a job (time, cancel request,
// lost lease, drain) says so here; the first reason decides the outcome, whatever the handler
// returns afterwards. A handler that does not stop is given up after a grace: its job is settled,
// its slot stays taken.
//
// Handlers that end without waiting for anything are run one after the other by one coroutine, for
// a moment; then everything else that is ready gets its turn. While there are slots, the next such
// coroutine is ready, and goes on where the first one has to wait for its handler.
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
#include "worker/prefetch.h"
#include "worker/reporter.h"
#include "worker/run_list.h"
#include "worker/run_pool.h"
#include "worker/settler.h"

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
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
    // The process lease is held at this time, as far as our clock can say.
    std::function<bool(Clock::Steady now)> leased;
  };

  Dispatcher(Executor executor, Services services, const Options& options,
             const HandlerRegistry& handlers);

  // For the Fetcher.
  int claimable() const;  // How many more jobs there is use for.
  void accept(std::vector<ClaimedJob> jobs, const store::WorkerKey& key, Clock::Steady asked_at);
  // A round of claims is over; `full`: it brought all that there was use for.
  // Jobs wait that end as soon as they are run, and may be.
  bool more_ends_at_once() const;
  void note_claimed(bool full, Clock::Duration took) {
    prefetch_.note_claimed(full, took, services_.clock.now());
  }
  // Jobs that came too late to be run here: back at once.
  void return_unused(std::vector<ClaimedJob> jobs, const store::WorkerKey& key);
  // Leases of this process that it never heard of: back at once as well.
  void return_unheld(const std::vector<store::HeldLease>& leases, const store::WorkerKey& key);
  std::vector<LeaseToken> held_tokens() const;
  Event changed() const { return changed_; }  // Set whenever claimable() may have grown.

  // For the Settler.
  void answered(std::span<Settler::Answered> answers);
  // Told the queue of every job of ours that has ended, once the database has said so.
  using OnEnded = std::function<void(const std::string& queue)>;
  void tell_ended(OnEnded on_ended) { on_ended_ = std::move(on_ended); }

  // For whoever learns that a job must stop.
  void cancel(JobId id, LeaseToken token, std::string reason);
  void lose_all();                    // The process lease is gone.
  void hand_back_waiting();           // Unstarted jobs go back; nothing starts any more.
  void stop_all(std::string reason);  // Running ones are stopped and go back.

  // Stops what runs too long, and gives up what does not stop. Never ends.
  awaitable<void> watch_deadlines();
  // Once in a while: returns what waited too long, extends the leases of what runs long, and frees
  // what only a burst has needed.
  awaitable<void> look_after_leases();

  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t unsettled() const { return unsettled_; }
  bool idle() const { return runs_.empty() && running_.empty(); }
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

  Run make_run(ClaimedJob job, JobRun::WorkerId worker_id);
  void return_jobs(std::vector<ClaimedJob> jobs, const store::WorkerKey& key);

  // Running.
  bool may_start(Clock::Steady now) const;
  bool may_add_results() const;
  void start_waiting(Clock::Steady now);
  awaitable<void> run_waiting();
  JobRun& begin_next(Clock::Steady now);
  void end_run(JobRun& run, Clock::Steady now);
  void finish(Run run);
  void note_begin(JobRun& run) const;
  void note_end(const JobRun& run, const Outcome* outcome) const;
  Outcome decide(JobRun& run) const;
  void note_room();

  // Stopping.
  void stop(JobRun& run, StopCause cause, std::string reason);
  void set_deadline(JobRun& run, Clock::Steady deadline);
  void expire(JobRun& run);
  void give_up(JobRun& run);

  // Settling.
  void settle(Run run, Outcome outcome);
  void settle_now(Run run, Outcome outcome);
  awaitable<void> settle_when_reported(Run run, Outcome outcome);
  awaitable<void> settle_with(Run run, Settlement settlement, std::vector<SqlStatement> statements);
  void note_answer(const JobRun& run, Outcome::Kind outcome, Answer answer);
  void tell_settled(const JobRun& run, Outcome::Kind outcome) const;
  void forget(Run run);

  // Leases.
  void return_aged(Clock::Steady now);
  awaitable<void> extend(std::string worker_id, std::vector<Run> runs);

  Services services_;
  const Options& options_;
  const HandlerRegistry& handlers_;
  const std::size_t unsettled_max_;
  TaskGroup tasks_;
  RunList<&JobRun::held_at> runs_;        // All that is held, until the fence has answered.
  RunList<&JobRun::running_at> running_;  // Whose handlers have not returned.
  std::deque<Run> waiting_;
  RunPool pool_;
  std::size_t unsettled_ = 0;
  std::size_t stuck_ = 0;
  bool starting_ = false;  // A coroutine is about to start what waits.
  bool draining_ = false;
  Prefetch prefetch_;
  // None of what runs is due before; it may be too early.
  Clock::Steady next_deadline_ = Clock::Steady::max();
  Event deadline_moved_;
  Clock::Steady tidied_at_{};  // When free memory was last returned.
  Event changed_;
  OnEnded on_ended_;
  Totals totals_;
};

}  // namespace millrace::worker
