// Operations on PDF exports, as the source fixes them (H-01 to H-11): its paths, its names, its
// words, in its envelope (H-12).
//
// A user's exports are jobs of type export_pdf; what came of them lies in bucket `exports` and is
// listed in the history until it expires. URLs are made when somebody asks and kept nowhere.
#pragma once

#include "api/operation.h"
#include "api/problem.h"
#include "api/template_directory.h"
#include "api/upload/signed_links.h"
#include "blob/blob_store.h"
#include "store/api/exports.h"
#include "store/api/files.h"
#include "store/api/jobs_read.h"
#include "store/api/jobs_write.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

inline constexpr const char* kExportBucket = "exports";
inline constexpr std::string_view kExportType = "export_pdf";

struct ExportServices {
  store::ExportStore& exports;
  store::JobReader& jobs;
  store::JobWriter& writer;
  store::FileStore& files;
  blob::BlobStore& blobs;
  const SignedLinks& links;
  const TemplateDirectory& templates;
};

struct ExportRouteOptions {
  std::chrono::milliseconds time_max = std::chrono::hours(1);  // Of one download.
};

// The services outlive the operations.
std::vector<Operation> export_operations(ExportServices services, ExportRouteOptions options);
std::vector<Operation> export_batch_operations(ExportServices services, ExportRouteOptions options);
Operation export_zip_operation(ExportServices services, ExportRouteOptions options);

// --- Shared by these files ---

using ExportVerb = Task<Reply> (*)(Call& call, ExportServices services);
OperationHandler export_handler(ExportVerb verb, ExportServices services);
Operation export_operation(std::string id, std::string method, std::string path,
                           std::string summary, Access access);

// The user whose exports these are; invalid_argument for credentials that name none.
Result<Uuid> export_user(const Call& call);
// An order of these documents, with what was chosen and the ids of the request. The database has
// the default of what was not chosen; a template that is not named is that of each document.
store::ExportOrder export_order(const Call& call, Uuid user, std::vector<Uuid> documents);
// What is wrong with an order that names a template: there is none, or the data of a document is
// not what it takes.
Task<std::vector<FieldError>> order_errors(Call& call, ExportServices services,
                                           std::vector<Uuid> documents);
Parameter partial_parameter();
// A text in a row of the database; empty where there is none.
std::string text_at(const json::Object& object, std::string_view name);
// Of a job; the source knows neither retrying nor deferred.
std::string export_status(const json::Object& job);

}  // namespace millrace::api
