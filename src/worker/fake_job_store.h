// FakeJobStore: a small model of the engine for the worker's tests. Jobs are ready, leased or
// ended; tokens fence; answers can be held, lost or replaced by errors.
#pragma once

#include "base/event.h"
#include "store/job_store.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millrace::worker::test {

class FakeJobStore final : public store::JobStore {
 public:
  struct Lease {
    ClaimedJob job;
    Uuid process;
    std::string worker_id;
  };
  struct Ended {
    JobId id;
    LeaseToken token;
    Outcome outcome;
    std::vector<JobLogLine> logs;
    std::vector<SqlStatement> statements;
  };
  // How the next calls of a function go: held until `gate` is set, then an error instead of, or
  // (lost) after, the work.
  struct Trouble {
    int calls = 0;
    Error error = {.kind = ErrorKind::unavailable, .message = "no database"};
    bool lost_answer = false;  // The work is done, the answer is not.
  };

  // Test side.
  JobId add(std::string job_type, std::string queue = "default");
  void add_many(int count, std::string job_type) {
    for (int i = 0; i < count; ++i) add(job_type);
  }
  void declare_dead(bool forget_process = true);  // Takes back all leases; processes are unknown.
  std::vector<Ended> ended_as(Outcome::Kind kind) const;
  const Ended* end_of(JobId id) const;

  std::map<std::string, std::deque<ClaimedJob>> ready;
  std::deque<ClaimedJob> suspects;
  std::map<JobId, Lease> leases;
  std::vector<Ended> ended;             // All that the fence let pass, in order.
  std::vector<store::JobLogItem> logs;  // Stored while running.
  std::vector<store::ProgressItem> progress;
  std::map<std::string, int> calls;
  std::map<std::string, Trouble> trouble;
  // A call waits for its gate, if there is one; "claim_jobs answer" and "retire_worker answer" are
  // after the work.
  std::map<std::string, Event> gates;
  std::optional<std::vector<std::string>> limited;  // As beats tell it.
  std::vector<store::ClaimRequest> claims;
  std::vector<std::size_t> settle_sizes;
  std::vector<std::string> workers;                              // Registered, in order.
  std::vector<std::pair<std::string, std::string>> handed_back;  // Supervisor, worker.
  std::set<Uuid> processes;                                      // Alive.
  std::vector<store::CancelRequest> cancel_requests;
  std::set<std::string> unknown_queues;  // Claiming from these is not_found.
  std::set<JobId> refuse;                // Settling these as ok is an invalid argument.
  bool refuse_all = false;               // Settling anything is.
  bool refuse_logs = false;              // Settling with log lines is.
  std::set<JobId> cancel_on_extend;      // Their holder is told when it extends the lease.
  std::chrono::milliseconds lease_answer{0};
  std::chrono::milliseconds job_lease{600'000};
  std::chrono::milliseconds run_timeout{300'000};
  int last_running = -1;
  bool last_draining = false;

  // JobStore.
  Task<void> ensure_job_types(std::vector<std::string> types, std::string queue) override;
  Task<Uuid> register_worker(std::string worker_id, store::WorkerInfo info) override;
  Task<store::BeatAnswer> beat_worker(store::WorkerKey worker, store::BeatInfo info) override;
  Task<int> retire_worker(store::WorkerKey worker) override;
  Task<std::vector<store::HeldLease>> unheld_leases(store::WorkerKey worker,
                                                    std::vector<LeaseToken> held) override;
  Task<int> hand_back_process(std::string supervisor_id, std::string worker_id) override;
  Task<std::vector<ClaimedJob>> claim_jobs(store::ClaimRequest request) override;
  Task<std::vector<store::ExtendAnswer>> extend_leases(std::string worker_id,
                                                       std::vector<store::HeldLease> held,
                                                       std::chrono::milliseconds extend) override;
  Task<std::vector<JobAnswer>> settle(std::string worker_id,
                                      std::vector<Settlement> settlements) override;
  Task<Answer> settle_with(std::string worker_id, Settlement settlement,
                           std::vector<SqlStatement> statements) override;
  Task<std::vector<store::ProgressAnswer>> report_progress(
      std::string worker_id, std::vector<store::ProgressItem> items) override;
  Task<int> append_logs(std::string worker_id, std::vector<store::JobLogItem> items) override;

 private:
  // Counts the call, waits at its gate; the error if it is to fail before the work.
  Task<bool> enter(std::string name);  // True: lose the answer after the work.
  awaitable<void> wait_at(std::string name);
  Error error_of(const std::string& name) { return trouble[name].error; }
  Answer settle_one(const std::string& worker_id, Settlement settlement,
                    std::vector<SqlStatement> statements);
  int give_back(const Uuid& process);
  Uuid next_uuid();

  std::uint64_t last_uuid_ = 0;
};

}  // namespace millrace::worker::test
