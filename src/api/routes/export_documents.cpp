#include "api/routes/export_documents.h"

#include "api/page.h"
#include "api/raw_json.h"
#include "api/routes/exports.h"
#include "api/routes/path.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using Services = ExportDocumentServices;

constexpr std::string_view kPath = "/api/v1/export/documents";
// More than the database keeps (export.data_max_bytes), written with all the blanks people like.
constexpr std::uint64_t kBodyBytes = std::uint64_t{8} * 1024 * 1024;

Uuid id_of(const Call& call) { return call.parameters.id<TenantId>("id").value; }

// The document as the database gave it, with its version for the entity tag.
Reply document_reply(std::string text, int status = 200) {
  std::string version(raw_member(text, "version").value_or(""));
  return Reply::json_text(std::move(text), status).in_version(std::move(version));
}

std::string unquoted(std::string_view text) {
  return text.size() < 2 ? std::string() : std::string(text.substr(1, text.size() - 2));
}

Reply created(std::string effect) {
  const auto id = unquoted(raw_member(effect, "id").value_or(""));
  return document_reply(std::move(effect), 201).with("Location", fmt::format("{}/{}", kPath, id));
}

std::vector<FieldError> errors_in(const Call& call, const Services& services) {
  return template_errors(services.templates,
                         {.slug = call.text("templateSlug").value_or("minimal")},
                         call.body.as_object().at("data"));
}

Task<Reply> create_document(Call& call, Services services) {
  MR_CO_TRY(const auto user, export_user(call));
  if (auto errors = errors_in(call, services); !errors.empty()) {
    co_return invalid_request(call, std::move(errors));
  }
  MR_CO_TRY(auto effect,
            co_await services.exports.put_export_document(
                call.context(), {.user = user, .document_json = call.body_text}, call.request_key));
  co_return created(std::move(effect));
}

Task<Reply> get_document(Call& call, Services services) {
  std::optional<int> version;
  if (const auto wanted = call.parameters.integer("version")) version = static_cast<int>(*wanted);
  MR_CO_TRY(auto text,
            co_await services.exports.get_export_document(call.context(), id_of(call), version));
  co_return document_reply(std::move(text));
}

Task<Reply> list_documents(Call& call, Services services) {
  MR_CO_TRY(const auto page, read_page(call, "export_documents"));
  MR_CO_TRY(const auto after, uuid_key(page));
  store::ExportDocumentList list{.after = after, .limit = page.limit + 1};
  if (call.caller.user) list.user = call.caller.user->value;
  MR_CO_TRY(const auto rows, co_await services.exports.list_export_documents(call.context(), list));
  co_return cut_page("export_documents", rows, page.limit, "id");
}

Error changed_since() {
  return {.kind = ErrorKind::conflict,
          .message = "it is not as it was when it was read: read it again",
          .sqlstate = "MR040"};
}

// The one version that may be replaced: of several that the client named, the one that is there.
// Nothing: whatever there is.
Task<std::optional<int>> expected_version(Call& call, Services services) {
  if (!call.if_match) co_return std::nullopt;
  auto current = co_await services.exports.get_export_document(call.context(), id_of(call), {});
  if (!current) {
    // What If-Match is about must be there (RFC 9110).
    if (current.error().kind == ErrorKind::not_found) co_return fail(changed_since());
    co_return fail(std::move(current).error());
  }
  const auto version = std::string(raw_member(*current, "version").value_or(""));
  for (const auto& wanted : *call.if_match) {
    if (wanted == "*") co_return std::nullopt;
    int number = 0;
    const auto read = std::from_chars(version.data(), version.data() + version.size(), number);
    if (wanted == version && read.ec == std::errc()) co_return number;
  }
  co_return fail(changed_since());
}

Task<Reply> put_document(Call& call, Services services) {
  MR_CO_TRY(const auto user, export_user(call));
  if (auto errors = errors_in(call, services); !errors.empty()) {
    co_return invalid_request(call, std::move(errors));
  }
  MR_CO_TRY(const auto expected, co_await expected_version(call, services));
  MR_CO_TRY(auto text,
            co_await services.exports.put_export_document(call.context(),
                                                          {.user = user,
                                                           .document = id_of(call),
                                                           .document_json = call.body_text,
                                                           .expected_version = expected},
                                                          {}));
  co_return document_reply(std::move(text));
}

Task<Reply> delete_document(Call& call, Services services) {
  MR_CO_TRY(const auto user, export_user(call));
  MR_CO_TRY(const auto expected, co_await expected_version(call, services));
  MR_CO_TRY(const bool gone, co_await services.exports.delete_export_document(
                                 call.context(), user, id_of(call), expected));
  if (!gone) co_return fail(ErrorKind::not_found, "Document not found");
  co_return Reply::json(json::Object{{"message", "Document deleted"}});
}

using Verb = Task<Reply> (*)(Call& call, Services services);

Operation document_operation(std::string id, std::string method, std::string path,
                             std::string summary, Capability capability, Verb verb,
                             const Services& services) {
  auto operation = export_operation(std::move(id), std::move(method), std::move(path),
                                    std::move(summary), Access::people(capability));
  operation.handler = [verb, services](Call& call) { return verb(call, services); };
  return operation;
}

RequestBody document_body() { return {.schema = "NewExportDocument"}; }

}  // namespace

std::optional<FieldError> unknown_template(const TemplateDirectory& templates,
                                           const TemplateUse& use) {
  if (templates.find(use.slug) != nullptr) return std::nullopt;
  std::string names;
  for (const auto& entry : templates.list()) names += (names.empty() ? "" : ", ") + entry.slug;
  return FieldError{.pointer = use.slug_at,
                    .rule = "template",
                    .detail = fmt::format("there is no such template; there are: {}", names)};
}

std::vector<FieldError> template_errors(const TemplateDirectory& templates, const TemplateUse& use,
                                        const json::Value& data) {
  if (auto unknown = unknown_template(templates, use)) return {*std::move(unknown)};
  std::vector<FieldError> out;
  for (const auto& violation : templates.check(use.slug, data)) {
    out.push_back({.pointer = use.at + violation.instance_path,
                   .rule = violation.keyword,
                   .detail = violation.message});
  }
  return out;
}

Reply invalid_request(const Call& call, std::vector<FieldError> errors) {
  return problem_reply({.fault = {.status = 400,
                                  .code = "invalid_body",
                                  .detail = "the body breaks rules of its schema"},
                        .errors = std::move(errors)},
                       call.operation().form, call.request.correlation_id);
}

std::vector<Operation> export_document_operations(ExportDocumentServices services) {
  const std::string one = fmt::format("{}/{{id}}", kPath);
  std::vector<Operation> out;
  auto made = document_operation("export.create_document", "POST", std::string(kPath),
                                 "Keep a document for exports", Capability::write, create_document,
                                 services);
  made.description = "Its data must be what the schema of its template says.";
  made.body = document_body();
  made.body_max_bytes = kBodyBytes;
  made.answers = {{.status = 201, .description = "Version 1.", .schema = "ExportDocument"}};
  made.errors = {507};
  made.idempotency_key = true;
  made.replay = created;
  out.push_back(std::move(made));
  auto listed = document_operation("export.documents", "GET", std::string(kPath),
                                   "Documents for exports, newest first, without their data",
                                   Capability::read, list_documents, services);
  listed.parameters = {limit_parameter(), cursor_parameter()};
  listed.answers = {{.status = 200, .description = "A page.", .schema = "ExportDocumentPage"}};
  out.push_back(std::move(listed));
  auto read = document_operation("export.document", "GET", one, "A document for exports",
                                 Capability::read, get_document, services);
  read.parameters = {id_parameter("The document."),
                     {.name = "version",
                      .description = "An earlier one, as long as an export names it.",
                      .schema = R"({"type":"integer","minimum":1,"maximum":2147483647})"}};
  read.answers = {{.status = 200, .description = "The document.", .schema = "ExportDocument"}};
  read.conditional = true;
  out.push_back(std::move(read));
  auto put = document_operation("export.put_document", "PUT", one, "Write its next version",
                                Capability::write, put_document, services);
  put.description =
      "The same content makes no new version. With If-Match only while the version is the one of "
      "the entity tag.";
  put.parameters = {id_parameter("The document.")};
  put.body = document_body();
  put.body_max_bytes = kBodyBytes;
  put.answers = {
      {.status = 200, .description = "The version that is current.", .schema = "ExportDocument"}};
  put.guards_change = true;
  out.push_back(std::move(put));
  auto removed = document_operation("export.delete_document", "DELETE", one,
                                    "Delete a document for exports, with all its versions",
                                    Capability::write, delete_document, services);
  removed.description =
      "Exports of it that are not finished are cancelled; files that were made stay until they "
      "expire.";
  removed.parameters = {id_parameter("The document.")};
  removed.answers = {{.status = 200, .description = "It is gone.", .schema = "Message"}};
  removed.guards_change = true;
  out.push_back(std::move(removed));
  return out;
}

}  // namespace millrace::api
