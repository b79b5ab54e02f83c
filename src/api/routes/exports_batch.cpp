// Several documents exported together, and fetched as one ZIP file.
#include "api/call.h"
#include "api/routes/exports.h"
#include "api/routes/path.h"
#include "api/zip_writer.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::size_t kDocumentsMax = 10;
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::string_view kNamePrefix = "export ";
constexpr std::string_view kNoBatch = "Batch not found or incomplete";
constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};

std::string text_of(const json::Object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string(member->get_string())
                                                  : std::string();
}

std::int64_t progress_of(const json::Object& job) {
  const auto* progress = job.if_contains("progress");
  return progress != nullptr && progress->is_int64() ? progress->get_int64() : 0;
}

// The document's id is in the name of its job, as millrace.export_spec has it.
json::Object job_json(const json::Object& job) {
  const auto name = text_of(job, "job_name");
  json::Object out{{"jobId", text_of(job, "job_id")}, {"documentId", nullptr}};
  if (name.starts_with(kNamePrefix)) out["documentId"] = name.substr(kNamePrefix.size());
  out["status"] = export_status(job);
  out["progress"] = progress_of(job);
  return out;
}

// Its jobs, in the order of the documents, as far as the caller may see them; none looks like no
// batch.
Task<std::vector<json::Object>> jobs_of(Call& call, ExportServices services, BatchId batch) {
  MR_CO_TRY(const auto text, co_await services.exports.export_batch_jobs(call.context(), batch));
  MR_CO_TRY(const auto list, parse_json(text, kAnswerLimits));
  std::vector<json::Object> jobs;
  for (const auto& job : list.as_array()) jobs.push_back(job.as_object());
  if (jobs.empty()) co_return fail(ErrorKind::not_found, std::string(kNoBatch));
  co_return jobs;
}

Reply ordered(std::string effect) { return Reply::json_text(std::move(effect), 202); }

// One job per document, all of them or none (X-10).
Task<Reply> create_batch(Call& call, ExportServices services) {
  MR_CO_TRY(const auto user, export_user(call));
  const auto& list = call.member("documentIds")->as_array();
  if (list.size() > kDocumentsMax) {
    co_return fail(ErrorKind::invalid_argument, "Maximum 10 documents per batch");
  }
  std::vector<Uuid> documents;
  for (const auto& id : list) {
    MR_CO_TRY(const auto document, Uuid::parse(id.as_string()));
    documents.push_back(document);
  }
  auto order = export_order(call, user, std::move(documents));
  order.batch = true;
  MR_CO_TRY(auto effect, co_await services.exports.order_exports(
                             call.context().by_server(), std::move(order), call.request_key));
  co_return ordered(std::move(effect));
}

Task<Reply> batch_status(Call& call, ExportServices services) {
  const auto batch = call.parameters.id<BatchId>("id");
  MR_CO_TRY(const auto jobs, co_await jobs_of(call, services, batch));
  std::int64_t completed = 0;
  std::int64_t progress = 0;
  json::Array list;
  for (const auto& job : jobs) {
    if (export_status(job) == "completed") ++completed;
    progress += export_status(job) == "completed" ? 100 : progress_of(job);
    list.push_back(job_json(job));
  }
  const auto total = static_cast<std::int64_t>(jobs.size());
  co_return Reply::json(json::Object{{"batchId", batch.to_string()},
                                     {"totalCount", total},
                                     {"completedCount", completed},
                                     {"progress", 100 * completed / total},
                                     {"meanProgress", progress / total},
                                     {"jobs", std::move(list)}});
}

// X-16: the source's body, with a status that does not mean a range of bytes.
Reply partial_reply(const Call& call, std::size_t total,
                    const std::vector<json::Object>& completed) {
  json::Array ids;
  for (const auto& job : completed) ids.emplace_back(text_of(job, "job_id"));
  return Reply::json(json::Object{{"status", 409},
                                  {"message", "Batch partially complete"},
                                  {"details", json::Object{{"completedCount", completed.size()},
                                                           {"totalCount", total},
                                                           {"completedJobs", std::move(ids)}}},
                                  {"code", "partial"},
                                  {"cid", call.request.correlation_id}},
                     409);
}

Task<void> send(Call& call, Result<std::string> bytes) {
  if (!bytes) co_return fail(std::move(bytes).error());
  if (bytes->empty()) co_return ok();
  co_return co_await call.response.write(*bytes);
}

// An entry of the archive, as fast as the client takes it.
Task<void> send_entry(Call& call, ExportServices services, ZipWriter& zip,
                      store::StoredObject object, std::string name) {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(object.store_key));
  MR_CO_TRY(const auto reader, co_await services.blobs.open(key, {}));
  MR_CO_TRY_VOID(co_await send(call, zip.begin(name)));
  std::vector<std::byte> piece(kPieceBytes);
  for (;;) {
    MR_CO_TRY(const auto got, co_await reader->read(piece));
    if (got == 0) break;
    const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), got);
    MR_CO_TRY_VOID(co_await send(call, zip.write(bytes)));
  }
  co_return co_await send(call, zip.end());
}

struct Packed {
  store::StoredObject object;
  std::string name;
};

// What the finished jobs made, looked up before anything is sent.
Task<std::vector<Packed>> files_of(Call& call, ExportServices services,
                                   std::vector<json::Object> jobs) {
  std::vector<JobId> ids;
  for (const auto& job : jobs) {
    MR_CO_TRY(const auto id, JobId::parse(text_of(job, "job_id")));
    ids.push_back(id);
  }
  MR_CO_TRY(auto made, co_await services.exports.export_files(call.context(), std::move(ids)));
  std::vector<Packed> files;
  for (auto& file : made) {
    auto object = co_await services.files.get_object(call.context(), kExportBucket, file.path);
    if (!object) {
      if (object.error().kind == ErrorKind::not_found) continue;  // Deleted since.
      co_return fail(std::move(object).error());
    }
    files.push_back({.object = *std::move(object),
                     .name = file.name.empty() ? std::move(file.path) : std::move(file.name)});
  }
  co_return files;
}

Task<Reply> download_batch(Call& call, ExportServices services) {
  const auto batch = call.parameters.id<BatchId>("id");
  MR_CO_TRY(const auto jobs, co_await jobs_of(call, services, batch));
  std::vector<json::Object> completed;
  for (const auto& job : jobs) {
    if (export_status(job) == "completed") completed.push_back(job);
  }
  if (!completed.empty() && completed.size() < jobs.size() && !call.parameters.boolean("partial")) {
    co_return partial_reply(call, jobs.size(), completed);
  }
  MR_CO_TRY(auto files, co_await files_of(call, services, std::move(completed)));
  if (files.empty()) co_return fail(ErrorKind::not_found, std::string(kNoBatch));
  call.response.header("Content-Disposition",
                       fmt::format("attachment; filename=\"resumes-{}.zip\"", batch));
  call.response.header("Cache-Control", "private, no-store");
  MR_CO_TRY_VOID(co_await call.response.start(200, "application/zip"));
  ZipWriter zip;
  for (auto& file : files) {
    MR_CO_TRY_VOID(
        co_await send_entry(call, services, zip, std::move(file.object), std::move(file.name)));
  }
  MR_CO_TRY_VOID(co_await send(call, zip.finish()));
  MR_CO_TRY_VOID(co_await call.response.finish());
  co_return Reply::done();
}

}  // namespace

std::vector<Operation> export_batch_operations(ExportServices services,
                                               ExportRouteOptions options) {
  std::vector<Operation> out;
  auto made = export_operation("export.create_batch", "POST", "/api/v1/export/batch",
                               "Export up to ten documents", Access::people(Capability::write));
  made.body = RequestBody{.schema = "NewExportBatch"};
  made.answers = {{.status = 202, .description = "Its jobs.", .schema = "ExportBatchCreated"}};
  made.errors = {507};
  made.idempotency_key = true;
  made.replay = ordered;
  made.handler = export_handler(create_batch, services);
  out.push_back(std::move(made));
  auto seen = export_operation("export.batch", "GET", "/api/v1/export/batch/{id}",
                               "How far a batch of exports is", Access::people(Capability::read));
  seen.parameters = {id_parameter("The batch.")};
  seen.answers = {{.status = 200, .description = "Its state.", .schema = "ExportBatch"}};
  seen.handler = export_handler(batch_status, services);
  out.push_back(std::move(seen));
  auto fetched =
      export_operation("export.batch_download", "GET", "/api/v1/export/batch/{id}/download",
                       "The files of a batch in one ZIP file", Access::people(Capability::read));
  fetched.parameters = {id_parameter("The batch."),
                        {.name = "partial",
                         .description = "Also while some are not finished, or have failed.",
                         .schema = R"({"type":"boolean"})"}};
  fetched.answers = {
      {.status = 200, .description = "A ZIP file.", .content_type = "application/zip"},
      {.status = 409, .description = "Some are not finished.", .schema = "ExportPartial"}};
  fetched.time_max = options.time_max;
  fetched.handler = export_handler(download_batch, services);
  out.push_back(std::move(fetched));
  return out;
}

}  // namespace millrace::api
