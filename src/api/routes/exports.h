// Operations on PDF exports, as the source fixes them (H-01 to H-11): its paths, its names, its
// words, in its envelope (H-12).
//
// A user's exports are jobs of type export_pdf; what came of them lies in bucket `exports` and is
// listed in the history until it expires. URLs are made when somebody asks and kept nowhere.
#pragma once

#include "api/operation.h"
#include "api/upload/signed_links.h"
#include "blob/blob_store.h"
#include "store/api/blobs.h"
#include "store/api/exports.h"
#include "store/api/files.h"
#include "store/api/jobs_read.h"
#include "store/api/jobs_write.h"

#include <chrono>
#include <string>
#include <vector>

namespace millrace::api {

struct ExportServices {
  store::ExportStore& exports;
  store::JobReader& jobs;
  store::JobWriter& writer;
  store::FileStore& files;
  store::BlobLedger& ledger;
  blob::BlobStore& blobs;
  const SignedLinks& links;
};

struct ExportRouteOptions {
  std::chrono::milliseconds time_max = std::chrono::hours(1);  // Of one download.
};

// The services outlive the operations.
std::vector<Operation> export_operations(ExportServices services, ExportRouteOptions options);
std::vector<Operation> export_batch_operations(ExportServices services, ExportRouteOptions options);

// --- Shared by both files ---

using ExportVerb = Task<Reply> (*)(Call& call, ExportServices services);
OperationHandler export_handler(ExportVerb verb, ExportServices services);
Operation export_operation(std::string id, std::string method, std::string path,
                           std::string summary, Access access);

// The user whose exports these are; invalid_argument for credentials that name none.
Result<Uuid> export_user(const Call& call);
// What was chosen, and the default of what was not.
json::Object export_options(const Call& call);
// Refuses a user who has three of them running or whose storage is full.
Task<void> check_export_room(Call& call, ExportServices services, Uuid user,
                             std::string queue_full);
// Of a job; the source knows neither retrying nor deferred.
std::string export_status(const json::Object& job);
// The object that a completed job made; empty without one.
std::string export_path(const json::Object& job);

}  // namespace millrace::api
