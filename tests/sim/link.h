// Link: the database as one simulated process sees it: every call travels, is done at some instant
// by the Model, and its answer travels back, unless something goes wrong on the way.
//
// What can go wrong is chosen per call by the world's weather. A request that was sent is out of
// the process's hands: it is done although its process has died or stopped waiting. Lifetime: the
// Database outlives the Link; answers on their way to a process that is gone arrive nowhere.
#pragma once

#include "base/event.h"
#include "sim/checks.h"
#include "sim/model.h"
#include "sim/plan.h"
#include "sim/sim_clock.h"
#include "store/job_store.h"
#include "store/keeper_store.h"
#include "store/wake_source.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::sim {

enum class Verb {
  ensure_job_types,
  register_worker,
  beat_worker,
  retire_worker,
  unheld_leases,
  claim_jobs,
  extend_leases,
  settle,
  settle_with,
  report_progress,
  append_logs,
  elect,
  resign,
  duty,
};

// A call under way; shared by the waiting coroutine and by what happens to it outside.
struct Call {
  virtual ~Call() = default;
  virtual void work() = 0;

  Verb verb = Verb::duty;
  int process = -1;
  std::uint64_t epoch = 0;  // Of the database when it was sent.
  Time deadline{0};
  Event arrived;
  std::optional<Error> error;
  bool done = false;       // The database has done it.
  bool withdrawn = false;  // The database will not do it.
  bool answered = false;
};

// The model, with the network before it.
class Database {
 public:
  Database(const WorldPlan& plan, Loop& loop, Checks& checks, Random& random);

  Model& model() { return model_; }
  // At this instant, by nobody: producers and operators.
  Model& now();
  void send(std::shared_ptr<Call> call, Time timeout);
  void give_up(const std::shared_ptr<Call>& call);  // Nobody waits for it any more.

  void restart(Time duration);
  void stall(Time duration);
  bool calm() const { return loop_.now() >= plan_.calm_from; }

 private:
  enum class Fate { well, refused, lost, cut, late, slow };
  Fate choose_fate();
  Time latency();
  void arrive(std::shared_ptr<Call> call, Fate fate);
  void answer(const std::shared_ptr<Call>& call);
  void time_out(const std::shared_ptr<Call>& call);

  const WorldPlan& plan_;
  Loop& loop_;
  Checks& checks_;
  Dice dice_;
  Model model_;
  std::uint64_t epoch_ = 0;
  Time down_until_{-1};
  Time stalled_until_{-1};
};

class Link final : public store::JobStore, public store::KeeperStore, public store::WakeSource {
 public:
  Link(Database& database, Checks& checks, ProcessClock& clock, const WorldPlan& plan, int process);

  void hint() { hint_.set(); }
  // JobStore.
  Task<void> ensure_job_types(std::vector<std::string> job_types, std::string queue) override;
  Task<Uuid> register_worker(std::string worker_id, store::WorkerInfo info) override;
  Task<store::BeatAnswer> beat_worker(store::WorkerKey worker, store::BeatInfo info) override;
  Task<int> retire_worker(store::WorkerKey worker) override;
  Task<std::vector<store::HeldLease>> unheld_leases(store::WorkerKey worker,
                                                    std::vector<LeaseToken> held) override;
  Task<int> hand_back_process(std::string supervisor_id, std::string worker_id) override;
  Task<std::vector<ClaimedJob>> claim_jobs(store::ClaimRequest request) override;
  Task<std::vector<store::ExtendAnswer>> extend_leases(std::string worker_id,
                                                       std::vector<store::HeldLease> leases,
                                                       std::chrono::milliseconds extend) override;
  Task<std::vector<JobAnswer>> settle(std::string worker_id,
                                      std::vector<Settlement> settlements) override;
  Task<Answer> settle_with(std::string worker_id, Settlement settlement,
                           std::vector<SqlStatement> statements) override;
  Task<std::vector<store::ProgressAnswer>> report_progress(
      std::string worker_id, std::vector<store::ProgressItem> items) override;
  Task<int> append_logs(std::string worker_id, std::vector<store::JobLogItem> items) override;

  // KeeperStore.
  Task<bool> elect(std::string duty, std::string holder, std::chrono::milliseconds ttl) override;
  Task<bool> work_at_hand() override { co_return true; }
  Task<void> resign(std::string duty, std::string holder) override;
  Task<std::int64_t> reclaim(int limit) override;
  Task<std::int64_t> promote_due(int limit) override;
  Task<std::int64_t> advance(int limit) override;
  Task<std::int64_t> expire_waiting(int limit) override;
  Task<std::int64_t> run_cron(int limit) override;
  Task<std::int64_t> fold_counters() override;
  Task<std::string> reconcile(int limit) override;
  Task<std::int64_t> empty_intake() override;
  Task<std::int64_t> expire_keys(int limit) override;
  Task<std::int64_t> expire_slots(int limit) override;
  Task<std::string> maintain_partitions() override;
  Task<std::int64_t> seal_audit(int limit) override;
  Task<std::vector<store::HorizonHolder>> horizon() override;

  // WakeSource.
  Task<bool> wait(std::chrono::milliseconds timeout) override;

 private:
  template <class T>
  Task<T> call(Verb verb, std::function<Result<T>(Model&)> work);
  Task<std::int64_t> duty(std::function<int(Model&)> work);

  Database& database_;
  Checks& checks_;
  ProcessClock& clock_;
  const WorldPlan& plan_;
  const int process_;
  Event hint_;
};

}  // namespace millrace::sim
