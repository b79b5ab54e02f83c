// ExportStore: PDF exports of users: orders, batches, and where the files lie. One call per SQL
// function. A user sees the own ones. Threading and lifetime: as ApiSession, which outlives it.
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

// A picture of the first page of an export.
struct ExportPreview {
  std::string store_key;
  std::string sha256;  // Hexadecimal.
  std::int64_t size_bytes = 0;
  std::string content_type;
};

// What a user wants to keep for exports.
struct ExportDocument {
  Uuid user;
  std::optional<Uuid> document = {};  // Nothing: a new one.
  std::string document_json = {};     // {"title", "templateSlug", "data"}
  std::optional<int> expected_version = {};
};

struct ExportDocumentList {
  std::optional<Uuid> user = {};   // Of a caller who is none: all users it may see.
  std::optional<Uuid> after = {};  // Newest first.
  int limit = 50;                  // 1 to 1000.
};

class ExportStore {
 public:
  virtual ~ExportStore() = default;

  // {"jobId"} or {"batchId", "jobs"}; while the same wish is under way, its job. Documents
  // that the user has not got: MR043; options that are none: MR024; three that run: MR008; a
  // quota that is used up, or promised to others: MR027; the orders of a day: MR044 (L-18).
  // No client may call it in the database: the server does, for the user it knows.
  virtual Task<std::string> order_exports(CallContext caller, ExportOrder order,
                                          RequestKey key) = 0;
  // Of those jobs that have made one, in their order.
  virtual Task<std::vector<ExportFile>> export_files(CallContext caller,
                                                     std::vector<JobId> jobs) = 0;
  // The files of these exports are about to be sent: each counts as downloaded once.
  virtual Task<void> count_downloads(CallContext caller, std::vector<JobId> jobs) = 0;
  // MR031 where there is none, or none any more.
  virtual Task<ExportPreview> export_preview(CallContext caller, JobId job) = 0;
  // An array of jobs as JobReader::job_status has them, without results; empty: no such batch.
  virtual Task<std::string> export_batch_jobs(CallContext caller, BatchId batch) = 0;
  // How many past their time were removed; of the caller's tenant, where it is confined to one.
  virtual Task<int> expire_exports(CallContext caller, int limit) = 0;

  // Export documents, as JSON: {"id", "userId", "title", "templateSlug", "data", "version",
  // "contentSha256", "createdAt", "updatedAt"}.
  // The one that is current afterwards, without data; the same content makes no new version. MR024
  // names member and rule, MR040: another version is current, MR043: the user has none of this id.
  virtual Task<std::string> put_export_document(CallContext caller, ExportDocument document,
                                                RequestKey key) = 0;
  virtual Task<std::string> get_export_document(CallContext caller, Uuid document,
                                                std::optional<int> version) = 0;
  // An array, without data.
  virtual Task<std::string> list_export_documents(CallContext caller, ExportDocumentList list) = 0;
  // With its versions; exports of it that are not finished are cancelled. False: there was none.
  // MR040: another version is current.
  virtual Task<bool> delete_export_document(CallContext caller, Uuid user, Uuid document,
                                            std::optional<int> expected_version) = 0;
};

std::unique_ptr<ExportStore> make_export_store(ApiSession& session);

}  // namespace millrace::store
