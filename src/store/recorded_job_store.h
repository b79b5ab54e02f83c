// RecordedJobStore: a JobStore that writes every call and its answer into the history, for the
// offline checker of chaos runs. Without a history it only passes calls on.
// Threading and lifetime: those of the store it is given, which outlives it.
#pragma once

#include "store/job_store.h"

#include <string>
#include <vector>

namespace millrace::store {

class RecordedJobStore final : public JobStore {
 public:
  explicit RecordedJobStore(JobStore& store) : store_(store) {}

  Task<void> ensure_job_types(std::vector<std::string> job_types, std::string queue) override;
  Task<void> warm_up(std::string queue) override { return store_.warm_up(std::move(queue)); }
  Task<Uuid> register_worker(std::string worker_id, WorkerInfo info) override;
  Task<BeatAnswer> beat_worker(WorkerKey worker, BeatInfo info) override;
  Task<int> retire_worker(WorkerKey worker) override;
  Task<std::vector<HeldLease>> unheld_leases(WorkerKey worker,
                                             std::vector<LeaseToken> held) override;
  Task<int> hand_back_process(std::string supervisor_id, std::string worker_id) override;
  Task<std::vector<ClaimedJob>> claim_jobs(ClaimRequest request) override;
  Task<std::vector<ExtendAnswer>> extend_leases(std::string worker_id,
                                                std::vector<HeldLease> leases,
                                                std::chrono::milliseconds extend) override;
  Task<std::vector<JobAnswer>> settle(std::string worker_id,
                                      std::vector<Settlement> settlements) override;
  Task<Answer> settle_with(std::string worker_id, Settlement settlement,
                           std::vector<SqlStatement> statements) override;
  Task<std::vector<ProgressAnswer>> report_progress(std::string worker_id,
                                                    std::vector<ProgressItem> items) override;
  Task<int> append_logs(std::string worker_id, std::vector<JobLogItem> items) override;

 private:
  JobStore& store_;
};

}  // namespace millrace::store
