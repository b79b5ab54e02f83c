// JobStore: what a worker asks of the database. One call per SQL function, same names.
//
// Every call may be repeated when its fate is unknown (in_doubt): the functions recognise their own
// success by job id and token. Threading: from one executor. Implementations: PgJobStore, and the
// fake in the worker's tests.
#pragma once

#include "base/task.h"
#include "model/job.h"
#include "model/settlement.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

// The identity under which a process holds leases: a name for people, and the nonce that counts.
struct WorkerKey {
  std::string worker_id;
  Uuid process;
};

struct WorkerInfo {
  std::string supervisor_id;  // Empty: none.
  std::string host;
  int pid = 0;
  std::string version;
  int slots = 1;
  std::vector<std::string> queues;
  std::vector<std::string> job_types;
  std::chrono::milliseconds lease{30'000};
  std::int64_t client_time_ms = 0;  // Wall clock, only for showing skew.
};

struct BeatInfo {
  int running = 0;
  bool draining = false;
  std::int64_t client_time_ms = 0;
};

struct CancelRequest {
  JobId id;
  LeaseToken token;
  std::string reason;
};

struct BeatAnswer {
  bool alive = false;
  std::chrono::milliseconds lease{0};
  std::vector<CancelRequest> cancel;
  int suspects = 0;  // Jobs waiting for a process in which they can run alone.
  // Those of its queues where the end of a job makes room for another; nothing: who knows.
  std::optional<std::vector<std::string>> limited = {};
};

// Where the last claim stopped, by group: the next claim need not look at what lies before.
using Marks = std::map<std::string, std::int64_t>;

struct ClaimRequest {
  WorkerKey worker;
  std::string queue;
  int limit = 1;
  std::vector<std::string> job_types;
  std::optional<Marks> marks;  // None: a full scan.
  bool alone = false;
};

struct HeldLease {
  JobId id;
  LeaseToken token;
};

struct ExtendAnswer {
  JobId id;
  bool extended = false;
  bool cancel_requested = false;
};

struct ProgressItem {
  JobId id;
  LeaseToken token;
  std::optional<int> percent;
  std::string message;
  std::string data_json;
};

struct ProgressAnswer {
  JobId id;
  bool held = false;
  bool cancel_requested = false;
};

struct JobLogItem {
  JobId id;
  LeaseToken token;
  JobLogLine line;
};

class JobStore {
 public:
  virtual ~JobStore() = default;

  // Registers types that are not there yet, in `queue`; never changes an existing one.
  virtual Task<void> ensure_job_types(std::vector<std::string> job_types, std::string queue) = 0;

  // Plans what claims of `queue` and settlements need, so that the first ones do not wait for it.
  virtual Task<void> warm_up(std::string /*queue*/) { co_return ok(); }

  virtual Task<Uuid> register_worker(std::string worker_id, WorkerInfo info) = 0;
  virtual Task<BeatAnswer> beat_worker(WorkerKey worker, BeatInfo info) = 0;
  // Hands back what the process still holds, without charge, and forgets it.
  virtual Task<int> retire_worker(WorkerKey worker) = 0;
  // The leases of this process besides `held`: the answer of a claim was lost. Changes nothing.
  virtual Task<std::vector<HeldLease>> unheld_leases(WorkerKey worker,
                                                     std::vector<LeaseToken> held) = 0;
  // For a supervisor whose child died: its leases are retried at once.
  virtual Task<int> hand_back_process(std::string supervisor_id, std::string worker_id) = 0;

  virtual Task<std::vector<ClaimedJob>> claim_jobs(ClaimRequest request) = 0;
  // An answer per lease, in the same order.
  virtual Task<std::vector<ExtendAnswer>> extend_leases(std::string worker_id,
                                                        std::vector<HeldLease> leases,
                                                        std::chrono::milliseconds extend) = 0;

  // All in one transaction: their log lines, complete_jobs for plain success, settle_jobs for the
  // rest. An answer per settlement, in the same order.
  virtual Task<std::vector<JobAnswer>> settle(std::string worker_id,
                                              std::vector<Settlement> settlements) = 0;
  // One settlement together with statements of the handler: they run, in order, only when the fence
  // holds, and commit with it. After a lost answer a repeat finds its own success and runs nothing.
  virtual Task<Answer> settle_with(std::string worker_id, Settlement settlement,
                                   std::vector<SqlStatement> statements) = 0;

  virtual Task<std::vector<ProgressAnswer>> report_progress(std::string worker_id,
                                                            std::vector<ProgressItem> items) = 0;
  virtual Task<int> append_logs(std::string worker_id, std::vector<JobLogItem> items) = 0;
};

}  // namespace millrace::store
