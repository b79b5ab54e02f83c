// SharedLedger: a job store in memory that outlives the process, as a database does.
//
// The jobs lie in a mapping shared with children: a child works on them and may die at any
// allocation, its parent looks at what is there afterwards. No allocation of the store's own work
// can fail, only those that a client of a database makes too: for requests and answers.
#pragma once

#include "store/job_store.h"

#include <array>
#include <cstddef>

namespace millrace::test {

class SharedLedger final : public store::JobStore {
 public:
  enum class Place : int { ready, lease, ended };
  struct Job {
    Place place = Place::ready;
    int kind = 0;  // Position in kJobTypes.
    int deliveries = 0;
    int settlements = 0;  // Outcomes that ended it: never more than one.
    int effects = 0;      // Statements of its handler that were committed.
    int stale = 0;        // Settlements that the fence refused.
    bool succeeded = false;
    Uuid token;
  };
  static constexpr std::size_t kJobs = 4;
  static constexpr std::array<const char*, kJobs> kJobTypes = {"plain", "talkative", "paying",
                                                               "failing"};
  struct Shared {
    std::array<Job, kJobs> jobs;
    bool registered = false;
    bool retired = false;
    std::uint8_t tokens = 0;
  };

  SharedLedger();
  ~SharedLedger() override;
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;

  void begin();    // Everything ready, nothing done.
  void reclaim();  // The process is dead: what it held is ready again.
  bool all_ended() const;
  const Shared& shared() const { return *shared_; }

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

 private:
  Answer settle_one(const Settlement& settlement, int statements);

  Shared* shared_;
};

}  // namespace millrace::test
