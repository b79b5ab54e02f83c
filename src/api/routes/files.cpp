#include "api/routes/files.h"

#include "api/call.h"
#include "api/page.h"
#include "api/routes/path.h"
#include "api/upload/content_reply.h"
#include "api/upload/request_content.h"
#include "api/wire_time.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using identity::UrlOperation;

using Verb = Task<Reply> (*)(Call& call, FileServices services);

constexpr std::chrono::seconds kLinkTtl{300};

OperationHandler verb_of(Verb verb, FileServices services) {
  return [verb, services](Call& call) { return verb(call, services); };
}

Uuid id_of(const Call& call) { return call.parameters.id<TenantId>("id").value; }

std::string resource_of(Uuid file) { return fmt::format("files/{}", file); }

Task<Reply> list(Call& call, FileServices services) {
  MR_CO_TRY(const auto page, read_page(call, "files"));
  MR_CO_TRY(const auto before, uuid_key(page));
  std::optional<Uuid> patient;
  if (const auto text = call.parameters.text("patient_id")) {
    MR_CO_TRY(patient, Uuid::parse(*text));
  }
  MR_CO_TRY(const auto rows,
            co_await services.files.list_files(
                call.context(), {.before = before, .patient = patient, .limit = page.limit + 1}));
  co_return cut_page("files", rows, page.limit, "id");
}

Task<Reply> get(Call& call, FileServices services) {
  MR_CO_TRY(auto file, co_await services.files.get_file(call.context(), id_of(call)));
  co_return Reply::json_text(std::move(file.json)).in_version(std::move(file.version));
}

// The object behind a file, as the caller of `context` may see it.
Task<SentContent> content_of(FileServices services, store::CallContext context, Uuid file) {
  MR_CO_TRY(const auto row, co_await services.files.get_file(context, file));
  MR_CO_TRY(const auto object, parse_json_object(row.json));
  const auto member = [&object](std::string_view name) {
    const auto* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string())
                                                  : std::string();
  };
  MR_CO_TRY(const auto stored, co_await services.files.get_object(
                                   std::move(context), member("bucket"), member("storage_path")));
  auto content = sent_content(stored);
  content.content_type = member("content_type");  // As found in it; the object has what was said.
  content.file_name = member("file_name");
  co_return content;
}

Task<Reply> read(Call& call, FileServices services) {
  MR_CO_TRY(auto content, co_await content_of(services, call.context(), id_of(call)));
  co_return co_await send_content(call, services.blobs, std::move(content));
}

Reply link_reply(std::string_view url, std::string expires_at) {
  return Reply::json(json::Object{{"url", url}, {"expires_at", std::move(expires_at)}}, 201)
      .with("Cache-Control", "no-store");
}

// The store's own link where it has such, so that the bytes need not come through here.
Task<Reply> make_link(Call& call, FileServices services) {
  const auto id = id_of(call);
  const std::chrono::seconds ttl(call.integer("expires_in").value_or(kLinkTtl.count()));
  MR_CO_TRY(auto content, co_await content_of(services, call.context(), id));
  // A file may have a longer name than stores put into their links.
  content.file_name = clean_file_name(call.text("file_name").value_or(content.file_name));
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  MR_CO_TRY(
      const auto direct,
      co_await services.blobs.signed_url(
          key, {.ttl = ttl, .content_type = content.content_type, .file_name = content.file_name}));
  if (direct) co_return link_reply(direct->url.reveal(), wire_time(direct->expires_at));
  MR_CO_TRY(const auto ticket,
            services.links.make(call.caller, {.resource = resource_of(id), .ttl = ttl}));
  const auto path = fmt::format("/api/v1/files/{}/download?token={}", id, ticket.text.reveal());
  co_return link_reply(services.links.absolute(call.request, path), wire_time(ticket.expires_at));
}

// Opened by the ticket in the URL, for the caller it was made for, and for nothing else.
Task<Reply> download(Call& call, FileServices services) {
  const auto id = id_of(call);
  MR_CO_TRY(const auto ticket,
            co_await services.links.open(call.parameters.required("token"), UrlOperation::download,
                                         resource_of(id)));
  call.caller = ticket.caller();
  call.response.header("Referrer-Policy", "no-referrer");
  co_return co_await read(call, services);
}

Task<Reply> remove(Call& call, FileServices services) {
  MR_CO_TRY(const auto rows,
            co_await services.files.delete_shell_file(call.context(), id_of(call), call.if_match));
  MR_CO_TRY(const auto removed, parse_json(rows));
  if (!removed.is_array() || removed.get_array().empty()) {
    co_return fail(ErrorKind::not_found, fmt::format("file {} does not exist", id_of(call)));
  }
  co_return Reply::empty();
}

std::vector<Answer> content_answers() {
  return {{.status = 200, .description = "The content.", .content_type = "*/*"},
          {.status = 206, .description = "The range asked for.", .content_type = "*/*"},
          {.status = 304, .description = "The client has it."}};
}

Operation content_operation(FileServices services, FileRouteOptions options) {
  return {.id = "files.content",
          .method = "GET",
          .path = "/api/v1/files/{id}/content",
          .tag = "Files",
          .summary = "The content of a file, or a range of it",
          .description =
              "Takes Range, If-Range, If-Match and If-None-Match; the ETag is the "
              "SHA-256 of the content.",
          .access = Access::people(Capability::read),
          .parameters = {id_parameter("The file.")},
          .answers = content_answers(),
          .errors = {404, 412, 416},
          .time_max = options.time_max,
          .handler = verb_of(read, services)};
}

Operation download_operation(FileServices services, FileRouteOptions options) {
  return {.id = "files.download",
          .method = "GET",
          .path = "/api/v1/files/{id}/download",
          .tag = "Files",
          .summary = "The content of a file, by a link that was made for it",
          .access = Access::signature(),
          .parameters = {id_parameter("The file."),
                         {.name = "token",
                          .description = "Of the link.",
                          .schema = R"({"type":"string","minLength":1,"maxLength":8192})",
                          .required = true}},
          .answers = content_answers(),
          .errors = {401, 403, 404, 412, 416},
          .time_max = options.time_max,
          .handler = verb_of(download, services)};
}

}  // namespace

std::vector<Operation> file_operations(FileServices services, FileRouteOptions options) {
  const auto reading = Access::people(Capability::read);
  std::vector<Operation> out;
  out.push_back({.id = "files.list",
                 .method = "GET",
                 .path = "/api/v1/files",
                 .tag = "Files",
                 .summary = "Files, newest first",
                 .access = reading,
                 .parameters = {limit_parameter(),
                                cursor_parameter(),
                                {.name = "patient_id",
                                 .description = "Of this profile only.",
                                 .schema = R"({"type":"string","format":"uuid"})"}},
                 .answers = {{.status = 200, .description = "A page.", .schema = "FilePage"}},
                 .handler = verb_of(list, services)});
  out.push_back({.id = "files.get",
                 .method = "GET",
                 .path = "/api/v1/files/{id}",
                 .tag = "Files",
                 .summary = "A file, and where its first job stands",
                 .access = reading,
                 .parameters = {id_parameter("The file.")},
                 .answers = {{.status = 200, .description = "The file.", .schema = "File"}},
                 .conditional = true,
                 .handler = verb_of(get, services)});
  out.push_back(content_operation(services, options));
  out.push_back({.id = "files.link",
                 .method = "POST",
                 .path = "/api/v1/files/{id}/link",
                 .tag = "Files",
                 .summary = "A link that opens the content for a while, without a token",
                 .description = "Whoever has it can read the file until it expires. It is made "
                                "now and kept nowhere; revoking the token it was made with ends "
                                "it, except where it leads to the object store itself.",
                 .access = reading,
                 .parameters = {id_parameter("The file.")},
                 .body = RequestBody{.schema = "NewLink", .required = false},
                 .answers = {{.status = 201, .description = "The link.", .schema = "Link"}},
                 .handler = verb_of(make_link, services)});
  out.push_back(download_operation(services, options));
  out.push_back({.id = "files.delete",
                 .method = "DELETE",
                 .path = "/api/v1/files/{id}",
                 .tag = "Files",
                 .summary = "Remove a file; its live job is cancelled",
                 .access = Access::people(Capability::write),
                 .parameters = {id_parameter("The file.")},
                 .answers = {{.status = 204, .description = "It is gone."}},
                 .guards_change = true,
                 .handler = verb_of(remove, services)});
  return out;
}

}  // namespace millrace::api
