// JobWriter: what callers do to jobs. One call per SQL function, same names, under the caller's
// role: grants decide who may (a user enqueues nothing directly, U-10).
//
// A RequestKey keeps the answer in the transaction of the effect, for a request that may be asked
// again; answers come as the JSON that is kept. Threading and lifetime: as ApiSession, which
// outlives it.
#pragma once

#include "base/task.h"
#include "store/api/requests.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

struct RedriveRequest {
  std::string filter_json = "{}";  // job_ids, queue, job_type, fingerprint, failed_before.
  int limit = 1000;
  std::optional<int> per_minute = {};
  std::optional<std::string> reason = {};
};

class JobWriter {
 public:
  virtual ~JobWriter() = default;

  // One job (an object) or several (an array): [{"job_id", "answer": created|duplicate}].
  virtual Task<std::string> enqueue_jobs(CallContext caller, std::string jobs_json,
                                         RequestKey key) = 0;
  // A sealed batch with all its jobs: {"batch_id"}.
  virtual Task<std::string> create_batch(CallContext caller, std::string jobs_json,
                                         std::string options_json, RequestKey key) = 0;
  // Those that the caller may see: [{"job_id", "answer": cancelled|cancel_requested|
  // already_final|not_found}].
  virtual Task<std::string> cancel_jobs(CallContext caller, std::vector<JobId> jobs,
                                        std::optional<std::string> reason, RequestKey key) = 0;
  // A waiting job becomes ready at once, a failed one starts again: {"job_id", "answer"}. The
  // answer is kept where something was done: ready or redriven.
  virtual Task<std::string> retry_job(CallContext caller, JobId job,
                                      std::optional<std::string> reason, RequestKey key) = 0;
  // [{"job_id", "answer", "due_at"}].
  virtual Task<std::string> redrive_jobs(CallContext caller, RedriveRequest request,
                                         RequestKey key) = 0;
};

std::unique_ptr<JobWriter> make_job_writer(ApiSession& session);

}  // namespace millrace::store
