#include "app/commands/export_desk.h"

#include "api/routes/exports.h"
#include "app/commands/desk.h"
#include "app/compute/worker_blobs.h"
#include "app/database.h"
#include "app/exports/export_worker.h"
#include "base/run.h"
#include "blob/blob_store.h"
#include "http/client.h"
#include "pg/pool.h"
#include "store/api/files.h"
#include "store/api/jobs_read.h"
#include "store/api/jobs_write.h"
#include "store/api/session.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::app {
namespace {

constexpr int kCleanAtOnce = 1000;

}  // namespace

struct ExportDesk::Parts {
  Parts(Context& of, const Database& database)
      : context(of),
        pool(io.get_executor(), connect_as(database, "millrace_api", "millrace-cli"),
             {.connections_max = 2}, of.random),
        client(io.get_executor(), {}),
        templates(template_folders(of.settings), of.log) {}

  template <class T>
  Result<T> run(Task<T> task) {
    return run_blocking(io, std::move(task));
  }
  Result<store::StoredObject> object(const store::ExportFile& file) {
    return run(files->get_object(caller, api::kExportBucket, file.path));
  }

  Context& context;
  boost::asio::io_context io{1};
  pg::Pool pool;
  store::ApiSession session{pool};
  std::unique_ptr<store::ExportStore> exports = store::make_export_store(session);
  std::unique_ptr<store::FileStore> files = store::make_file_store(session);
  std::unique_ptr<store::JobReader> jobs = store::make_job_reader(session);
  std::unique_ptr<store::JobWriter> writer = store::make_job_writer(session);
  http::Client client;
  TemplateCatalog templates;
  std::unique_ptr<WorkerBlobs> blobs;  // When it is needed first.
  store::CallContext caller{.role = "millrace_api"};
};

ExportDesk::ExportDesk(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ExportDesk::~ExportDesk() {
  parts_->blobs.reset();
  parts_->pool.close();
}

Result<std::unique_ptr<ExportDesk>> ExportDesk::open(Context& context) {
  MR_TRY(const auto database, find_database(context.settings));
  MR_TRY_VOID(context.connect_to(database));
  auto parts = std::make_unique<Parts>(context, database);
  if (context.global.tenant) {
    MR_TRY(parts->caller.tenant, TenantId::parse(*context.global.tenant));
  }
  parts->caller.actor = "cli";
  return std::unique_ptr<ExportDesk>(new ExportDesk(std::move(parts)));
}

const TemplateCatalog& ExportDesk::templates() const { return parts_->templates; }

Result<json::Object> ExportDesk::put(const store::ExportDocument& document) {
  return object_of(parts_->run(parts_->exports->put_export_document(parts_->caller, document, {})));
}

Result<json::Object> ExportDesk::get(const Uuid& document, std::optional<int> version) {
  return object_of(
      parts_->run(parts_->exports->get_export_document(parts_->caller, document, version)));
}

Result<json::Array> ExportDesk::list(const store::ExportDocumentList& list) {
  return rows_of(parts_->run(parts_->exports->list_export_documents(parts_->caller, list)));
}

Result<bool> ExportDesk::remove(const Uuid& user, const Uuid& document) {
  return parts_->run(
      parts_->exports->delete_export_document(parts_->caller, user, document, std::nullopt));
}

Result<json::Object> ExportDesk::order(const store::ExportOrder& order) {
  return object_of(parts_->run(parts_->exports->order_exports(parts_->caller, order, {})));
}

Result<json::Object> ExportDesk::job(JobId job) {
  return object_of(parts_->run(parts_->jobs->job_status(parts_->caller, job)));
}

Result<std::string> ExportDesk::cancel(JobId job) {
  MR_TRY(
      const auto rows,
      rows_of(parts_->run(parts_->writer->cancel_jobs(parts_->caller, {job}, std::nullopt, {}))));
  return rows.empty() ? std::string("not_found") : text_member(rows[0].as_object(), "answer");
}

Result<json::Array> ExportDesk::history(int limit) {
  return rows_of(
      parts_->run(parts_->files->list_export_history(parts_->caller, std::nullopt, limit)));
}

Result<bool> ExportDesk::forget(const Uuid& history) {
  MR_TRY(const auto rows, rows_of(parts_->run(parts_->files->delete_export_history(
                              parts_->caller, std::vector{history}))));
  return !rows.empty();
}

Result<int> ExportDesk::clean() {
  int total = 0;
  for (int last = kCleanAtOnce; last == kCleanAtOnce; total += last) {
    MR_TRY(last, parts_->run(parts_->exports->expire_exports(parts_->caller, kCleanAtOnce)));
  }
  return total;
}

Result<std::vector<store::ExportFile>> ExportDesk::files(const std::vector<JobId>& jobs) {
  return parts_->run(parts_->exports->export_files(parts_->caller, jobs));
}

Result<std::int64_t> ExportDesk::size_of(const store::ExportFile& file) {
  MR_TRY(const auto object, parts_->object(file));
  return object.size_bytes;
}

Result<void> ExportDesk::read(const store::ExportFile& file, const Take& take) {
  if (!parts_->blobs) {
    MR_TRY(parts_->blobs,
           WorkerBlobs::open(parts_->context.settings, {.client = parts_->client,
                                                        .clock = parts_->context.clock,
                                                        .random = parts_->context.random}));
  }
  MR_TRY(const auto object, parts_->object(file));
  MR_TRY(const auto key, blob::BlobKey::parse(object.store_key));
  auto read = parts_->run(copy_content(parts_->blobs->store(), key, take));
  if (!read && read.error().kind == ErrorKind::not_found) {
    return fail(Error{.kind = ErrorKind::internal,
                      .message = fmt::format("{} is not in the blob store", file.name),
                      .hint = "check storage.* with 'millrace config'"});
  }
  return read;
}

}  // namespace millrace::app
