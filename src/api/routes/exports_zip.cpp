// The files of a batch in one ZIP file, made while it is sent.
//
// Nothing of it is kept: each file is read from the store piece by piece, packed, and written as
// fast as the client takes it. What cannot be read to its end cuts the connection, so
// that no client takes a part for the whole.
#include "api/call.h"
#include "api/routes/export_batch_state.h"
#include "api/routes/exports.h"
#include "api/routes/path.h"
#include "api/zip_writer.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::size_t kPieceBytes = 64 * 1024;

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
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(0, object.size_bytes));
  MR_CO_TRY_VOID(co_await send(call, zip.begin(name, size)));
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  for (;;) {
    MR_CO_TRY(const auto got, co_await reader->read({piece.get(), kPieceBytes}));
    if (got == 0) break;
    const std::string_view bytes(reinterpret_cast<const char*>(piece.get()), got);
    MR_CO_TRY_VOID(co_await send(call, zip.write(bytes)));
  }
  co_return co_await send(call, zip.end());
}

struct Packed {
  JobId job;
  store::StoredObject object;
  std::string name;
};

// What the finished jobs made, looked up before anything is sent.
Task<std::vector<Packed>> files_of(Call& call, ExportServices services,
                                   std::vector<json::Object> jobs) {
  std::vector<JobId> ids;
  for (const auto& job : jobs) {
    MR_CO_TRY(const auto id, JobId::parse(text_at(job, "job_id")));
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
    if (file.name.empty()) file.name = file.path.substr(file.path.rfind('/') + 1);
    files.push_back({.job = file.job, .object = *std::move(object), .name = std::move(file.name)});
  }
  co_return files;
}

// When the archive begins, as a single file counts when its link is handed out: nobody knows what
// becomes of bytes that were sent. Nothing is sent that could not be counted.
Task<void> count(Call& call, ExportServices services, const std::vector<Packed>& files) {
  std::vector<JobId> jobs;
  for (const auto& file : files) jobs.push_back(file.job);
  // Readers of the installation may look at every file, and count like everybody else.
  auto context = call.context();
  if (call.caller.role == identity::Role::reader) context = context.by_server();
  co_return co_await services.exports.count_downloads(std::move(context), std::move(jobs));
}

Task<Reply> download_batch(Call& call, ExportServices services) {
  const auto batch = call.parameters.id<BatchId>("id");
  MR_CO_TRY(const auto jobs, co_await export_batch_jobs(call.context(), services, batch));
  MR_CO_TRY(auto files, co_await files_of(call, services, completed_exports(jobs)));
  if (files.empty()) co_return fail(ErrorKind::not_found, std::string(kNoExportBatch));
  if (files.size() < jobs.size() && !call.parameters.boolean("partial")) {
    std::vector<JobId> there;
    for (const auto& file : files) there.push_back(file.job);
    co_return export_partial_reply(call, there, jobs.size());
  }
  const bool head_only = call.request.method == "HEAD";
  if (!head_only) MR_CO_TRY_VOID(co_await count(call, services, files));
  call.response.header("Content-Disposition",
                       fmt::format("attachment; filename=\"resumes-{}.zip\"", batch));
  call.response.header("Cache-Control", "private, no-store");
  MR_CO_TRY_VOID(co_await call.response.start(200, "application/zip"));
  if (head_only) {
    MR_CO_TRY_VOID(co_await call.response.finish());
    co_return Reply::done();
  }
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

Operation export_zip_operation(ExportServices services, ExportRouteOptions options) {
  auto fetched =
      export_operation("export.batch_download", "GET", "/api/v1/export/batch/{id}/download",
                       "The files of a batch in one ZIP file", Access::people(Capability::read));
  fetched.parameters = {id_parameter("The batch."), partial_parameter()};
  fetched.answers = {
      {.status = 200, .description = "A ZIP file.", .content_type = "application/zip"},
      {.status = 409, .description = "Some have no file.", .schema = "ExportPartial"}};
  fetched.time_max = options.time_max;
  fetched.handler = export_handler(download_batch, services);
  return fetched;
}

}  // namespace millrace::api
