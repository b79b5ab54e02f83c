// RemoteWorkStore: the verbs of workers that reach the engine over HTTP and have no database.
//
// The SQL functions are those of every worker; each call is sent in one piece with the check that
// the process exists and came with the same API token. Claims are handed out job by job, `limit` of
// them at most: the credit of the caller. A claim that finds nothing has asked for a notification
// (store/wake_source.h): the server waits for that and asks again, as long as the client does. What
// a settlement may say is checked by the database. Threading and lifetime: as ApiSession, which
// outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"
#include "store/job_store.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace millrace::store {

// A registered process, and the API token that it came with.
struct RemoteWorker {
  WorkerKey key;
  Uuid token_id;
};

struct RemoteClaim {
  std::string queue;
  int limit = 1;
  std::vector<std::string> job_types;  // Empty: all.
};

class RemoteWorkStore {
 public:
  virtual ~RemoteWorkStore() = default;

  // The nonce of the process. invalid_argument: the id is taken.
  virtual Task<Uuid> register_worker(CallContext caller, std::string worker_id, WorkerInfo info,
                                     Uuid token_id) = 0;
  // lease_lost (MR023) from here on: not registered, declared dead, or somebody else's.
  virtual Task<BeatAnswer> beat_worker(CallContext caller, RemoteWorker worker, BeatInfo info) = 0;
  virtual Task<int> retire_worker(CallContext caller, RemoteWorker worker) = 0;
  virtual Task<std::vector<ClaimedJob>> claim_jobs(CallContext caller, RemoteWorker worker,
                                                   RemoteClaim claim) = 0;
  // After a claim whose answer was lost: leases that the process does not know.
  virtual Task<std::vector<HeldLease>> unheld_leases(CallContext caller, RemoteWorker worker,
                                                     std::vector<LeaseToken> held) = 0;
  virtual Task<std::vector<ExtendAnswer>> extend_leases(CallContext caller, RemoteWorker worker,
                                                        std::vector<HeldLease> leases,
                                                        std::chrono::milliseconds extend) = 0;
  // `settlements_json` as millrace.settle_jobs takes it: [{"job_id", "token", "outcome", …}], but
  // without artifacts (invalid_argument): which content was stored is the server's to say.
  // [{"job_id", "answer"}]. Also for a process that was declared dead: it learns what became of its
  // jobs.
  virtual Task<std::string> settle_jobs(CallContext caller, RemoteWorker worker,
                                        std::string settlements_json) = 0;
  // [{"job_id", "token", "progress", "message", "data"}] gives [{"job_id", "answer",
  // "cancel_requested"}].
  virtual Task<std::string> report_progress(CallContext caller, RemoteWorker worker,
                                            std::string items_json) = 0;
  // [{"job_id", "token", "level", "message", "at_ms"}]; how many were kept.
  virtual Task<int> append_logs(CallContext caller, RemoteWorker worker,
                                std::string items_json) = 0;
};

std::unique_ptr<RemoteWorkStore> make_remote_work_store(ApiSession& session);

}  // namespace millrace::store
