// JobReader: jobs, logs, batches and dead letters as a caller may see them, as JSON text.
//
// A user sees the own jobs, everybody else those of the tenant they are confined to; any other job
// is not_found. Costs do not grow with the number of jobs: a page of list_jobs looks at a bounded
// number of rows, and may be short, or empty, with more to come. Threading and lifetime: as
// ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::store {

struct JobQuery {
  std::optional<std::string> queue = {};
  std::optional<std::string> job_type = {};
  std::optional<std::string> status = {};
  std::optional<Uuid> batch = {};
  std::optional<std::string> correlation_id = {};
  std::optional<Uuid> owner = {};               // A user sees the own jobs, whatever it says.
  std::optional<std::string> fingerprint = {};  // Of dead letters.
  std::optional<JobId> before = {};             // Newest first.
  int limit = 50;                               // 1 to 1000.
};

class JobReader {
 public:
  virtual ~JobReader() = default;

  // One job, with its result: {"job_id", "status", "progress", …}. The cheap one.
  virtual Task<std::string> job_status(CallContext caller, JobId job) = 0;
  // With payload and attempts.
  virtual Task<std::string> job_detail(CallContext caller, JobId job) = 0;
  // {"jobs": [...], "next": id or null}: `next` is `before` of the next page. Of each job what
  // job_status says, without result and progress_data.
  virtual Task<std::string> list_jobs(CallContext caller, JobQuery query) = 0;
  // An array of {"log_seq", "at", "delivery", "level", "message"} behind `after`.
  virtual Task<std::string> job_log_page(CallContext caller, JobId job, std::int64_t after,
                                         int limit) = 0;

  virtual Task<std::string> get_batch(CallContext caller, BatchId batch) = 0;
  // Newest first, behind `before`.
  virtual Task<std::string> list_batches(CallContext caller, std::optional<Uuid> before,
                                         int limit) = 0;
  // Dead letters by fingerprint, of a bounded number of them, newest first, below `before`:
  // {"groups": [...], "next": id or null}.
  virtual Task<std::string> dead_groups(CallContext caller, std::optional<std::string> queue,
                                        std::optional<JobId> before, int limit) = 0;
};

// `apart`: for the call that takes long, so that it holds up no other; outlives it too.
std::unique_ptr<JobReader> make_job_reader(ApiSession& session, ApiSession* apart = nullptr);

}  // namespace millrace::store
