// Several documents exported together: the order, how far it is, and where the files are.
#include "api/call.h"
#include "api/routes/export_batch_state.h"
#include "api/routes/export_documents.h"
#include "api/routes/export_link.h"
#include "api/routes/exports.h"
#include "api/routes/path.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::size_t kDocumentsMax = 10;

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
  MR_CO_TRY(auto errors, co_await order_errors(call, services, documents));
  if (!errors.empty()) co_return invalid_request(call, std::move(errors));
  auto order = export_order(call, user, std::move(documents));
  order.batch = true;
  MR_CO_TRY(auto effect, co_await services.exports.order_exports(
                             call.context().by_server(), std::move(order), call.request_key));
  co_return ordered(std::move(effect));
}

Task<Reply> batch_status(Call& call, ExportServices services) {
  const auto batch = call.parameters.id<BatchId>("id");
  MR_CO_TRY(const auto jobs, co_await export_batch_jobs(call.context(), services, batch));
  co_return Reply::json(export_batch_json(batch, jobs));
}

// X-17: the files one by one, for clients that take no archive.
Task<Reply> batch_files(Call& call, ExportServices services) {
  const auto batch = call.parameters.id<BatchId>("id");
  MR_CO_TRY(const auto jobs, co_await export_batch_jobs(call.context(), services, batch));
  const auto completed = completed_exports(jobs);
  std::vector<JobId> ids;
  for (const auto& job : completed) {
    MR_CO_TRY(const auto id, JobId::parse(text_at(job, "job_id")));
    ids.push_back(id);
  }
  MR_CO_TRY(const auto made, co_await services.exports.export_files(call.context(), ids));
  json::Array files;
  std::vector<JobId> there;
  auto expires_in = kExportLinkTtl;  // Of the link that ends first.
  for (const auto& file : made) {
    auto link = co_await export_link(services, link_holder(call, services), file.path, file.name);
    if (!link) {
      if (link.error().kind == ErrorKind::not_found) continue;  // Deleted since.
      co_return fail(std::move(link).error());
    }
    there.push_back(file.job);
    expires_in = std::min(expires_in, link->ttl);
    json::Value document;
    for (const auto& job : completed) {
      if (text_at(job, "job_id") == file.job.to_string()) document = exported_document(job);
    }
    files.push_back(json::Object{{"jobId", file.job.to_string()},
                                 {"documentId", std::move(document)},
                                 {"fileName", file.name},
                                 {"url", std::move(link->url)}});
  }
  if (files.empty()) co_return fail(ErrorKind::not_found, std::string(kNoExportBatch));
  if (files.size() < jobs.size() && !call.parameters.boolean("partial")) {
    co_return export_partial_reply(call, there, jobs.size());
  }
  co_return Reply::json(json::Object{{"batchId", batch.to_string()},
                                     {"expiresIn", expires_in.count()},
                                     {"files", std::move(files)}})
      .with("Cache-Control", "no-store");
}

}  // namespace

Parameter partial_parameter() {
  return {.name = "partial",
          .description = "Also while some are not finished, have failed, or their file is gone.",
          .schema = R"({"type":"boolean"})"};
}

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
  auto listed = export_operation("export.batch_files", "GET", "/api/v1/export/batch/{id}/files",
                                 "Links to the files of a batch, good for an hour",
                                 Access::people(Capability::read));
  listed.parameters = {id_parameter("The batch."), partial_parameter()};
  listed.answers = {
      {.status = 200, .description = "One for each file.", .schema = "ExportBatchFiles"},
      {.status = 409, .description = "Some have no file.", .schema = "ExportPartial"}};
  listed.handler = export_handler(batch_files, services);
  out.push_back(std::move(listed));
  out.push_back(export_zip_operation(services, options));
  return out;
}

}  // namespace millrace::api
