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
constexpr int kJobsMax = 200;  // More than a batch can have.
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

// The document's id is in the name of its job, as millrace.create_export_job has it.
json::Object job_json(const json::Object& job) {
  const auto name = text_of(job, "job_name");
  json::Object out{{"jobId", text_of(job, "job_id")}, {"documentId", nullptr}};
  if (name.starts_with(kNamePrefix)) out["documentId"] = name.substr(kNamePrefix.size());
  out["status"] = export_status(job);
  out["progress"] = progress_of(job);
  return out;
}

// Its jobs, oldest first, as far as the caller may see them; none looks like no batch.
Task<std::vector<json::Object>> jobs_of(Call& call, ExportServices services, BatchId batch) {
  std::vector<json::Object> jobs;
  MR_CO_TRY(
      const auto text,
      co_await services.jobs.list_jobs(
          call.context(), {.job_type = "export_pdf", .batch = batch.value, .limit = kJobsMax}));
  MR_CO_TRY(const auto page, parse_json_object(text, kAnswerLimits));
  for (const auto& job : page.at("jobs").as_array()) {
    jobs.insert(jobs.begin(), job.as_object());
  }
  if (jobs.empty()) co_return fail(ErrorKind::not_found, std::string(kNoBatch));
  co_return jobs;
}

// One job per document, all of them or none (X-10).
Task<Reply> create_batch(Call& call, ExportServices services) {
  MR_CO_TRY(const auto user, export_user(call));
  const auto& documents = call.member("documentIds")->as_array();
  if (documents.size() > kDocumentsMax) {
    co_return fail(ErrorKind::invalid_argument, "Maximum 10 documents per batch");
  }
  MR_CO_TRY_VOID(co_await check_export_room(
      call, services, user, "Export queue full. Please wait for current exports to complete."));
  const auto options = export_options(call);
  json::Array specs;
  for (const auto& document : documents) {
    specs.push_back(json::Object{
        {"job_type", "export_pdf"},
        {"job_name", fmt::format("{}{}", kNamePrefix, std::string_view(document.as_string()))},
        {"owner_id", user.to_string()},
        {"concurrency_key", user.to_string()},
        {"correlation_id", call.request.correlation_id},
        {"payload", json::Object{{"document_id", document},
                                 {"user_id", user.to_string()},
                                 {"format", "pdf"},
                                 {"options", options}}}});
  }
  MR_CO_TRY(const auto effect,
            co_await services.writer.create_batch(call.context().by_server(), to_json(specs),
                                                  R"({"name":"export"})", {}));
  MR_CO_TRY(const auto made, parse_json_object(effect));
  const auto id = text_of(made, "batch_id");
  MR_CO_TRY(const auto batch, BatchId::parse(id));
  MR_CO_TRY(const auto jobs, co_await jobs_of(call, services, batch));
  json::Array list;
  for (const auto& job : jobs) list.push_back(job_json(job));
  co_return Reply::json(json::Object{{"batchId", id}, {"jobs", std::move(list)}}, 202);
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
  std::vector<Packed> files;
  for (const auto& job : jobs) {
    MR_CO_TRY(const auto id, JobId::parse(text_of(job, "job_id")));
    MR_CO_TRY(const auto text, co_await services.jobs.job_status(call.context(), id));
    MR_CO_TRY(const auto whole, parse_json_object(text, kAnswerLimits));
    const auto path = export_path(whole);
    if (path.empty()) continue;
    auto object = co_await services.files.get_object(call.context(), "exports", path);
    if (!object) {
      if (object.error().kind == ErrorKind::not_found) continue;  // Deleted since.
      co_return fail(std::move(object).error());
    }
    auto name = text_of(whole.at("result").as_object(), "file_name");
    files.push_back({.object = *std::move(object), .name = name.empty() ? path : name});
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
