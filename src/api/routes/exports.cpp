#include "api/routes/exports.h"

#include "api/call.h"
#include "api/page.h"
#include "api/problem.h"
#include "api/routes/export_documents.h"
#include "api/routes/export_link.h"
#include "api/routes/path.h"
#include "api/storage/storage_api.h"
#include "api/upload/content_reply.h"
#include "api/upload/request_content.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using identity::UrlOperation;

constexpr int kCleanupBatch = 1000;
constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};

Uuid id_of(const Call& call) { return call.parameters.id<TenantId>("id").value; }

// An error that says there is no such thing, in the words of the source.
Error in_words(Error error, std::string_view words) {
  if (error.kind != ErrorKind::not_found) return error;
  return {.kind = ErrorKind::not_found, .message = std::string(words)};
}

// Another user's, another tenant's and one of another type look like none.
Task<json::Object> find_job(Call& call, ExportServices services) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  auto text = co_await services.jobs.job_status(call.context(), id);
  if (!text) co_return fail(in_words(std::move(text).error(), "Job not found"));
  MR_CO_TRY(auto job, parse_json_object(*text, kAnswerLimits));
  const bool is_export = text_at(job, "job_type") == kExportType;
  if (!is_export) co_return fail(ErrorKind::not_found, "Job not found");
  co_return job;
}

// The template that an order names: its own member, else the option, as the jobs of the source
// have it.
std::optional<TemplateUse> ordered_template(const Call& call) {
  if (auto slug = call.text("templateSlug")) return TemplateUse{.slug = *std::move(slug)};
  const auto* options = call.member("options");
  if (options == nullptr) return std::nullopt;
  auto slug = text_at(options->as_object(), "templateSlug");
  if (slug.empty()) return std::nullopt;
  return TemplateUse{.slug = std::move(slug), .slug_at = "#/options/templateSlug"};
}

Reply ordered(std::string effect) { return Reply::json_text(std::move(effect), 202); }

Task<Reply> create(Call& call, ExportServices services) {
  MR_CO_TRY(const auto user, export_user(call));
  MR_CO_TRY(const auto document, Uuid::parse(*call.text("documentId")));
  MR_CO_TRY(auto errors, co_await order_errors(call, services, {document}));
  if (!errors.empty()) co_return invalid_request(call, std::move(errors));
  MR_CO_TRY(auto effect, co_await services.exports.order_exports(
                             call.context().by_server(), export_order(call, user, {document}),
                             call.request_key));
  MR_CO_TRY(const auto made, parse_json_object(effect));
  call.note("job_id", text_at(made, "jobId"));
  co_return ordered(std::move(effect));
}

Task<Reply> status(Call& call, ExportServices services) {
  MR_CO_TRY(const auto job, co_await find_job(call, services));
  json::Object out{{"id", call.parameters.required("id")},
                   {"status", export_status(job)},
                   {"progress", 0},
                   {"resultUrl", nullptr},
                   {"error", nullptr}};
  const auto* progress = job.if_contains("progress");
  if (progress != nullptr && progress->is_int64()) out["progress"] = *progress;
  if (text_at(job, "status") == "completed") {
    MR_CO_TRY(const auto url, co_await export_result_link(services, link_holder(call, services),
                                                          call.parameters.id<JobId>("id")));
    if (url) out["resultUrl"] = *url;
  }
  if (const auto* error = job.if_contains("error"); error != nullptr && error->is_object()) {
    out["error"] = text_at(error->get_object(), "message");
  }
  co_return Reply::json(out).with("Cache-Control", "no-store");
}

Task<Reply> cancel(Call& call, ExportServices services) {
  MR_CO_TRY_VOID(co_await find_job(call, services));
  const auto id = call.parameters.id<JobId>("id");
  MR_CO_TRY(const auto rows,
            co_await services.writer.cancel_jobs(call.context(), {id}, std::nullopt, {}));
  MR_CO_TRY(const auto answers, parse_json(rows));
  std::string answer;
  if (const auto* list = answers.if_array(); list != nullptr && !list->empty()) {
    answer = text_at(list->front().as_object(), "answer");
  }
  if (answer == "already_final") {
    co_return fail(Error{
        .kind = ErrorKind::conflict, .message = "Job has already ended", .sqlstate = "MR010"});
  }
  if (answer == "not_found" || answer.empty()) {
    co_return fail(ErrorKind::not_found, "Job not found");
  }
  co_return Reply::json(json::Object{{"message", "Job cancelled"}});
}

// A picture of the first page, for lists of exports.
Task<Reply> preview(Call& call, ExportServices services) {
  auto picture =
      co_await services.exports.export_preview(call.context(), call.parameters.id<JobId>("id"));
  if (!picture) co_return fail(in_words(std::move(picture).error(), "Preview not found"));
  co_return co_await send_content(call, services.blobs,
                                  {.store_key = std::move(picture->store_key),
                                   .sha256 = std::move(picture->sha256),
                                   .size_bytes = picture->size_bytes,
                                   .content_type = std::move(picture->content_type)});
}

Task<Reply> open_file(Call& call, ExportServices services) {
  const auto path = call.parameters.required("path");
  MR_CO_TRY(const auto ticket,
            co_await services.links.open(call.parameters.required("token"), UrlOperation::download,
                                         export_resource(path)));
  call.caller = ticket.caller();
  call.response.header("Referrer-Policy", "no-referrer");
  auto object = co_await services.files.get_object(call.context(), kExportBucket, path);
  if (!object) co_return fail(in_words(std::move(object).error(), "File not found in storage"));
  auto content = sent_content(*object);
  content.file_name = clean_file_name(ticket.file_name.empty() ? path.substr(path.rfind('/') + 1)
                                                               : ticket.file_name);
  if (auto control = cache_control_of(*object); !control.empty()) {  // X-06
    content.cache_control = std::move(control);
  }
  co_return co_await send_content(call, services.blobs, std::move(content));
}

// X-18: who only looks at the head has downloaded nothing.
Task<store::Download> take_download(Call& call, ExportServices services) {
  auto context = call.context();
  if (call.request.method == "HEAD") {
    co_return co_await services.files.find_download(std::move(context), id_of(call));
  }
  // Readers of the installation may look at every file, and count like everybody else.
  if (call.caller.role == identity::Role::reader) context = context.by_server();
  co_return co_await services.files.count_download(std::move(context), id_of(call));
}

Task<Reply> download(Call& call, ExportServices services) {
  auto taken = co_await take_download(call, services);
  if (!taken) co_return fail(in_words(std::move(taken).error(), "Export not found"));
  if (taken->expired) {
    co_return problem_reply(
        {.fault = {.status = 410, .code = "gone", .detail = "Export expired and has been deleted"}},
        Form::envelope, call.request.correlation_id);
  }
  auto url = co_await export_link(services, link_holder(call, services), taken->file_path,
                                  taken->file_name);
  if (!url) co_return fail(in_words(std::move(url).error(), "File not found in storage"));
  co_return Reply::empty(302).with("Location", url->url).with("Cache-Control", "no-store");
}

Task<Reply> history(Call& call, ExportServices services) {
  MR_CO_TRY(const auto page, read_page(call, "exports"));
  MR_CO_TRY(const auto before, uuid_key(page));
  MR_CO_TRY(const auto rows,
            co_await services.files.list_export_history(call.context(), before, page.limit + 1));
  co_return cut_page("exports", rows, page.limit, "id");
}

Task<Reply> remove(Call& call, ExportServices services) {
  MR_CO_TRY(const auto rows,
            co_await services.files.delete_export_history(call.context(), {id_of(call)}));
  MR_CO_TRY(const auto removed, parse_json(rows));
  if (!removed.is_array() || removed.get_array().empty()) {
    co_return fail(ErrorKind::not_found, "Export not found");
  }
  co_return Reply::json(json::Object{{"message", "Export deleted"}});
}

// What has expired goes now: how many. Of the caller's tenant, where it is confined to one.
Task<int> clean(Call& call, ExportServices services) {
  int total = 0;
  for (int last = kCleanupBatch; last == kCleanupBatch; total += last) {
    MR_CO_TRY(last,
              co_await services.exports.expire_exports(call.context().by_server(), kCleanupBatch));
  }
  call.note("exports", total);
  co_return total;
}

Task<Reply> cleanup(Call& call, ExportServices services) {
  MR_CO_TRY(const int total, co_await clean(call, services));
  co_return Reply::json(json::Object{{"deletedCount", total}});
}

// The source's function for its schedule (H-10), in the source's word.
Task<Reply> cleanup_function(Call& call, ExportServices services) {
  MR_CO_TRY(const int total, co_await clean(call, services));
  co_return Reply::json(json::Object{{"deleted", total}});
}

std::vector<Operation> job_operations(ExportServices services) {
  std::vector<Operation> out;
  auto made = export_operation("export.create", "POST", "/api/v1/export/pdf", "Export a document",
                               Access::people(Capability::write));
  made.description =
      "While the same document is being exported with the same options, the answer is that job.";
  made.body = RequestBody{.schema = "NewExport"};
  made.answers = {{.status = 202, .description = "Its job.", .schema = "ExportCreated"}};
  made.errors = {507};
  made.idempotency_key = true;
  made.replay = ordered;
  made.handler = export_handler(create, services);
  out.push_back(std::move(made));
  auto seen = export_operation("export.status", "GET", "/api/v1/export/job/{id}",
                               "How far an export is", Access::people(Capability::read));
  seen.parameters = {id_parameter("The job.")};
  seen.answers = {{.status = 200, .description = "Its state.", .schema = "ExportStatus"}};
  seen.handler = export_handler(status, services);
  out.push_back(std::move(seen));
  auto ended = export_operation("export.cancel", "DELETE", "/api/v1/export/job/{id}",
                                "Cancel an export", Access::people(Capability::write));
  ended.description = "One that runs ends at its next step.";
  ended.parameters = {id_parameter("The job.")};
  ended.answers = {{.status = 200, .description = "It ends.", .schema = "Message"}};
  ended.errors = {409};
  ended.handler = export_handler(cancel, services);
  out.push_back(std::move(ended));
  auto drawn = export_operation("export.preview", "GET", "/api/v1/export/job/{id}/preview",
                                "A picture of the first page of a finished export",
                                Access::people(Capability::read));
  drawn.parameters = {id_parameter("The job.")};
  drawn.answers = {{.status = 200, .description = "The picture.", .content_type = "*/*"},
                   {.status = 206, .description = "The range asked for.", .content_type = "*/*"},
                   {.status = 304, .description = "The client has it."}};
  drawn.errors = {412, 416};
  drawn.handler = export_handler(preview, services);
  out.push_back(std::move(drawn));
  return out;
}

std::vector<Operation> history_operations(ExportServices services) {
  std::vector<Operation> out;
  auto listed = export_operation("export.history", "GET", "/api/v1/export/history",
                                 "Exports that can be downloaded, newest first",
                                 Access::people(Capability::read));
  listed.parameters = {limit_parameter(), cursor_parameter()};
  listed.answers = {{.status = 200, .description = "A page.", .schema = "ExportHistoryPage"}};
  listed.handler = export_handler(history, services);
  out.push_back(std::move(listed));
  auto removed = export_operation("export.delete", "DELETE", "/api/v1/export/history/{id}",
                                  "Delete an export", Access::people(Capability::write));
  removed.parameters = {id_parameter("The export.")};
  removed.answers = {{.status = 200, .description = "It is gone.", .schema = "Message"}};
  removed.handler = export_handler(remove, services);
  out.push_back(std::move(removed));
  auto fetched = export_operation("export.download", "GET", "/api/v1/export/download/{id}",
                                  "To the file of an export", Access::people(Capability::read));
  fetched.parameters = {id_parameter("The export.")};
  fetched.answers = {{.status = 302, .description = "Where it is, for an hour."}};
  fetched.errors = {410};
  fetched.handler = export_handler(download, services);
  out.push_back(std::move(fetched));
  auto cleaned = export_operation("export.cleanup", "POST", "/api/v1/export/cleanup",
                                  "Delete exports that have expired, now",
                                  Access::staff(Capability::administer));
  cleaned.answers = {{.status = 200, .description = "How many.", .schema = "ExportsCleaned"}};
  cleaned.handler = export_handler(cleanup, services);
  out.push_back(std::move(cleaned));
  auto function = export_operation(
      "export.cleanup_function", "POST", "/functions/v1/cleanup-exports",
      "Delete exports that have expired, now: for services", Access::service(Capability::write));
  function.form = Form::plain;
  function.body =
      RequestBody{.schema = R"({"type":"object","additionalProperties":false})", .required = false};
  function.answers = {{.status = 200, .description = "How many.", .schema = "ExportsDeleted"}};
  function.handler = export_handler(cleanup_function, services);
  out.push_back(std::move(function));
  return out;
}

Operation file_operation(ExportServices services, ExportRouteOptions options) {
  auto operation =
      export_operation("export.file", "GET", "/api/v1/export/file/{path...}",
                       "The file of an export, by a link that was handed out", Access::signature());
  operation.parameters = {
      {.in = In::path, .name = "path", .description = "Of the object.", .required = true},
      {.name = "token", .description = "Of the link.", .required = true}};
  operation.answers = {
      {.status = 200, .description = "The file.", .content_type = "*/*"},
      {.status = 206, .description = "The range asked for.", .content_type = "*/*"},
      {.status = 304, .description = "The client has it."}};
  operation.errors = {401, 403, 412, 416};
  operation.time_max = options.time_max;
  operation.handler = export_handler(open_file, services);
  return operation;
}

}  // namespace

std::string text_at(const json::Object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string(member->get_string())
                                                  : std::string();
}

OperationHandler export_handler(ExportVerb verb, ExportServices services) {
  return [verb, services](Call& call) { return verb(call, services); };
}

Operation export_operation(std::string id, std::string method, std::string path,
                           std::string summary, Access access) {
  Operation operation{.id = std::move(id),
                      .method = std::move(method),
                      .path = std::move(path),
                      .tag = "Exports",
                      .summary = std::move(summary),
                      .access = access,
                      .answers = {},
                      .handler = {}};
  operation.form = Form::envelope;
  return operation;
}

Result<Uuid> export_user(const Call& call) {
  if (call.caller.user) return call.caller.user->value;
  return fail(ErrorKind::invalid_argument,
              "exports belong to a user, and these credentials name none");
}

store::ExportOrder export_order(const Call& call, Uuid user, std::vector<Uuid> documents) {
  json::Object options;
  if (const auto* given = call.member("options")) options = given->as_object();
  if (const auto use = ordered_template(call)) options["templateSlug"] = use->slug;
  return {.user = user,
          .documents = std::move(documents),
          .options_json = to_json(options),
          .correlation_id = std::string(call.request.correlation_id),
          .traceparent = call.request.trace.traceparent()};
}

Task<std::vector<FieldError>> order_errors(Call& call, ExportServices services,
                                           std::vector<Uuid> documents) {
  const auto use = ordered_template(call);
  if (!use) co_return std::vector<FieldError>();
  if (auto unknown = unknown_template(services.templates, *use)) {
    co_return std::vector<FieldError>{*std::move(unknown)};
  }
  std::vector<FieldError> errors;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto text =
        co_await services.exports.get_export_document(call.context(), documents[i], {});
    if (!text) {
      if (text.error().kind == ErrorKind::not_found) continue;  // The order says so.
      co_return fail(text.error());
    }
    MR_CO_TRY(const auto document, parse_json_object(*text, kAnswerLimits));
    if (text_at(document, "templateSlug") == use->slug) continue;
    auto place = call.member("documentId") != nullptr ? std::string("#/documentId")
                                                      : fmt::format("#/documentIds/{}", i);
    for (const auto& violation : services.templates.check(use->slug, document.at("data"))) {
      errors.push_back(
          {.pointer = place,
           .rule = violation.keyword,
           .detail = fmt::format("its data does not fit the template: {}", violation.message)});
    }
  }
  co_return errors;
}

std::string export_status(const json::Object& job) {
  auto status = text_at(job, "status");
  return status == "retrying" || status == "deferred" ? "pending" : status;
}

std::vector<Operation> export_operations(ExportServices services, ExportRouteOptions options) {
  auto out = job_operations(services);
  for (auto& operation : history_operations(services)) out.push_back(std::move(operation));
  out.push_back(file_operation(services, options));
  return out;
}

}  // namespace millrace::api
