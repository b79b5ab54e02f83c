// ExportStore: PDF exports of users: orders, batches, and where the files lie. One call per SQL
// function. A user sees the own ones. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/requests.h"
#include "store/api/session.h"

#include <memory>
#include <string>
#include <vector>

namespace millrace::store {

struct ExportOrder {
  Uuid user;
  std::vector<Uuid> documents;
  std::string options_json = "{}";
  bool batch = false;
  // Kept with the jobs.
  std::string correlation_id = {};
  std::string traceparent = {};
};

// What a completed export made: an object in bucket exports.
struct ExportFile {
  JobId job;
  std::string path;
  std::string name;  // For people; may be empty.
};

class ExportStore {
 public:
  virtual ~ExportStore() = default;

  // {"jobId"} or {"batchId", "jobs"}; while the same wish is under way, its job. Three that
  // run: MR008; a quota that is used up, or promised to others: MR027. No client may
  // call it in the database: the server does, for the user it knows.
  virtual Task<std::string> order_exports(CallContext caller, ExportOrder order,
                                          RequestKey key) = 0;
  // Of those jobs that have made one, in their order.
  virtual Task<std::vector<ExportFile>> export_files(CallContext caller,
                                                     std::vector<JobId> jobs) = 0;
  // An array of jobs as JobReader::job_status has them, without results; empty: no such batch.
  virtual Task<std::string> export_batch_jobs(CallContext caller, BatchId batch) = 0;
  // How many past their time were removed; of the caller's tenant, where it is confined to one.
  virtual Task<int> expire_exports(CallContext caller, int limit) = 0;
};

std::unique_ptr<ExportStore> make_export_store(ApiSession& session);

}  // namespace millrace::store
