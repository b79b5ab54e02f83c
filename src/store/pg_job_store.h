// PgJobStore: JobStore on PostgreSQL.
//
// Two pools: heartbeats have a connection of their own, so that no amount of other work can make
// the process look dead. Nothing here keeps session state, so both may go through a transaction
// pooler. Threading: as pg::Pool. Lifetime: the pools outlive it.
#pragma once

#include "pg/pool.h"
#include "store/job_store.h"

#include <chrono>

namespace millrace::store {

class PgJobStore final : public JobStore {
 public:
  struct Timeouts {
    std::chrono::milliseconds acquire{5'000};  // Waiting for a connection.
    std::chrono::milliseconds call{30'000};
    std::chrono::milliseconds beat{10'000};
  };

  PgJobStore(pg::Pool& work, pg::Pool& beats) : PgJobStore(work, beats, Timeouts()) {}
  PgJobStore(pg::Pool& work, pg::Pool& beats, Timeouts timeouts)
      : work_(work), beats_(beats), timeouts_(timeouts) {}

  Task<void> ensure_job_types(std::vector<std::string> job_types, std::string queue) override;
  Task<void> warm_up(std::string queue) override;
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
  Task<pg::ResultSet> call(pg::Pool& pool, pg::Statement statement, pg::QueryOptions options);
  Task<int> count(pg::Pool& pool, pg::Statement statement, pg::QueryOptions options);

  pg::Pool& work_;
  pg::Pool& beats_;
  Timeouts timeouts_;
};

}  // namespace millrace::store
