// What documents are handed out as.
#include "api/call.h"
#include "api/problem.h"
#include "api/routes/documents.h"
#include "api/routes/path.h"
#include "api/upload/content_reply.h"
#include "api/upload/request_content.h"
#include "api/wire_time.h"
#include "blob/digest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <set>
#include <span>
#include <utility>
#include <variant>

namespace millrace::api {
namespace {

using identity::Capability;
using identity::UrlOperation;

constexpr std::chrono::seconds kLinkTtl{300};
constexpr std::chrono::seconds kComeAgain{2};  // Pages take seconds.
constexpr std::string_view kManifest = "manifest";
constexpr std::string_view kSignature = "manifest_signature";  // Made when it is asked for.
constexpr std::size_t kManifestMaxBytes = std::size_t{64} * 1024 * 1024;

struct Wanted {
  Uuid document;
  std::string kind;
  int page = 0;  // 0: of the whole document.
};

Wanted wanted_in(const Call& call) {
  return {.document = call.parameters.id<TenantId>("id").value,
          .kind = call.parameters.required("kind"),
          .page = static_cast<int>(call.parameters.integer("page").value_or(0))};
}

std::string resource_of(const Wanted& wanted) {
  return fmt::format("documents/{}/outputs/{}/{}", wanted.document, wanted.kind, wanted.page);
}

bool is_there(const json::Object& document, const Wanted& wanted) {
  for (const auto& value : document.at("outputs").as_array()) {
    const auto& output = value.as_object();
    const auto* page = output.at("page").if_int64();
    if (output.at("kind").as_string() == wanted.kind &&
        (page == nullptr ? 0 : *page) == wanted.page) {
      return true;
    }
  }
  return false;
}

// What there is instead, for whoever asked.
std::string others_in(const json::Object& document) {
  std::set<std::string> kinds;
  for (const auto& value : document.at("outputs").as_array()) {
    kinds.emplace(value.as_object().at("kind").as_string());
  }
  std::string out;
  for (const auto& kind : kinds) out += (out.empty() ? "" : ", ") + kind;
  return out;
}

std::string name_of(const Wanted& wanted) {
  return wanted.page == 0 ? wanted.kind : fmt::format("{} of page {}", wanted.kind, wanted.page);
}

// Pictures are of a page, all else is of the document.
Result<void> check_page(const Wanted& wanted) {
  const bool of_page = wanted.kind == "image";
  if (of_page && wanted.page == 0) {
    return fail(ErrorKind::invalid_argument, "page must be given with the kind image");
  }
  if (!of_page && wanted.page > 0) {
    return fail(ErrorKind::invalid_argument, "page must be given with the kind image only");
  }
  return ok();
}

Error missing(const json::Object& document, const Wanted& wanted) {
  const auto* pages = document.if_contains("page_count");
  if (pages != nullptr && pages->is_int64() && wanted.page > pages->get_int64()) {
    return {.kind = ErrorKind::not_found,
            .message = fmt::format("the document has no page {}", wanted.page)};
  }
  if (wanted.kind == "image" && wanted.page > 0) {
    return {.kind = ErrorKind::not_found,
            .message = fmt::format("there is no picture of page {}", wanted.page),
            .hint = "ask for it with POST …/pages/{page}/image"};
  }
  const auto others = others_in(document);
  return {.kind = ErrorKind::not_found,
          .message = fmt::format("the document has no output {}; it has {}", name_of(wanted),
                                 others.empty() ? "none" : others)};
}

Error busy(const json::Object& document) {
  const auto* stage = document.at("stage").if_string();
  return {.kind = ErrorKind::conflict,
          .message = fmt::format(
              "the document is being processed{}",
              stage == nullptr ? std::string() : fmt::format(" ({})", std::string_view(*stage))),
          .sqlstate = "MR042",
          .hint = "wait for its end"};
}

Reply come_again(const Call& call, Error error) {
  const auto form = call.operation().form;
  return problem_reply({.fault = fault_of(error, form), .cause = error}, form,
                       call.request.correlation_id)
      .with("Retry-After", std::to_string(kComeAgain.count()));
}

// The content, as the caller may see it; or what to answer instead.
Task<std::variant<SentContent, Reply>> content_of(Call& call, DocumentServices services,
                                                  Wanted wanted) {
  using Found = std::variant<SentContent, Reply>;
  MR_CO_TRY_VOID(check_page(wanted));
  MR_CO_TRY(const auto document, co_await find_document(call, services));
  if (!is_there(document, wanted)) {
    const bool may_come = is_under_way(document) && wanted.kind != "image";
    if (may_come) co_return Found(come_again(call, busy(document)));
    co_return fail(missing(document, wanted));
  }
  MR_CO_TRY(auto output, co_await services.documents.get_output(call.context(), wanted.document,
                                                                wanted.kind, wanted.page));
  if (!output) co_return fail(missing(document, wanted));  // It went meanwhile.
  co_return Found(SentContent{.store_key = std::move(output->store_key),
                              .sha256 = std::move(output->sha256),
                              .size_bytes = output->size_bytes,
                              .content_type = std::move(output->content_type),
                              .file_name = std::move(output->file_name)});
}

Result<void> check_signed(const Wanted& wanted, const DocumentServices& services) {
  if (wanted.kind != kSignature || services.signer != nullptr) return ok();
  return fail(Error{.kind = ErrorKind::not_found,
                    .message = "this server signs nothing: it has no lasting secret",
                    .hint = "set auth.jwt_secret"});
}

// What the output is made of.
Wanted source_of(Wanted wanted) {
  if (wanted.kind == kSignature) wanted.kind = kManifest;
  return wanted;
}

Task<std::string> read_whole(blob::BlobStore& blobs, SentContent content) {
  if (content.size_bytes < 0 || static_cast<std::size_t>(content.size_bytes) > kManifestMaxBytes) {
    co_return fail(ErrorKind::internal, "the manifest is too large");
  }
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  MR_CO_TRY(auto reader, co_await blobs.open(key, {}));
  std::string text(static_cast<std::size_t>(content.size_bytes), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    MR_CO_TRY(const auto more,
              co_await reader->read(std::as_writable_bytes(std::span(text)).subspan(got)));
    if (more == 0) break;
    got += more;
  }
  // The database says which bytes these are, and only those are signed.
  if (got != text.size() || blob::sha256(text).hex() != content.sha256) {
    co_return fail(ErrorKind::internal, "the manifest is damaged");
  }
  co_return text;
}

Task<Reply> sign(DocumentServices services, SentContent manifest) {
  auto name = manifest.file_name;
  MR_CO_TRY(const auto bytes, co_await read_whole(services.blobs, std::move(manifest)));
  MR_CO_TRY(const auto signature, services.signer->sign(name, bytes));
  co_return Reply::json(signature).with("Cache-Control", "private, no-cache");
}

Task<Reply> read(Call& call, DocumentServices services) {
  const auto wanted = wanted_in(call);
  MR_CO_TRY_VOID(check_signed(wanted, services));
  MR_CO_TRY(auto found, co_await content_of(call, services, source_of(wanted)));
  if (auto* reply = std::get_if<Reply>(&found)) co_return std::move(*reply);
  if (wanted.kind == kSignature) {
    co_return co_await sign(services, std::get<SentContent>(std::move(found)));
  }
  co_return co_await send_content(call, services.blobs, std::get<SentContent>(std::move(found)));
}

Reply link_reply(std::string_view url, std::string expires_at) {
  return Reply::json(json::Object{{"url", url}, {"expires_at", std::move(expires_at)}}, 201)
      .with("Cache-Control", "no-store");
}

// The store's own link where it has such, so that the bytes need not come through here.
Task<Reply> make_link(Call& call, DocumentServices services) {
  const auto wanted = wanted_in(call);
  const std::chrono::seconds ttl(call.integer("expires_in").value_or(kLinkTtl.count()));
  MR_CO_TRY_VOID(check_signed(wanted, services));
  MR_CO_TRY(auto found, co_await content_of(call, services, source_of(wanted)));
  if (auto* reply = std::get_if<Reply>(&found)) co_return std::move(*reply);
  auto content = std::get<SentContent>(std::move(found));
  if (wanted.kind != kSignature) {  // No store has that.
    content.file_name = clean_file_name(call.text("file_name").value_or(content.file_name));
    MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
    MR_CO_TRY(const auto direct,
              co_await services.blobs.signed_url(key, {.ttl = ttl,
                                                       .content_type = content.content_type,
                                                       .file_name = content.file_name}));
    if (direct) co_return link_reply(direct->url.reveal(), wire_time(direct->expires_at));
  }
  MR_CO_TRY(const auto ticket,
            services.links.make(call.caller, {.resource = resource_of(wanted), .ttl = ttl}));
  auto path = fmt::format("/api/v1/documents/{}/outputs/{}/download?token={}", wanted.document,
                          wanted.kind, ticket.text.reveal());
  if (wanted.page > 0) path += fmt::format("&page={}", wanted.page);
  co_return link_reply(services.links.absolute(call.request, path), wire_time(ticket.expires_at));
}

// Opened by the ticket in the URL, for the caller it was made for, and for nothing else.
Task<Reply> download(Call& call, DocumentServices services) {
  MR_CO_TRY(const auto ticket,
            co_await services.links.open(call.parameters.required("token"), UrlOperation::download,
                                         resource_of(wanted_in(call))));
  call.caller = ticket.caller();
  call.response.header("Referrer-Policy", "no-referrer");
  co_return co_await read(call, services);
}

std::vector<Parameter> output_parameters() {
  return {
      id_parameter("The document."),
      {.in = In::path,
       .name = "kind",
       .description = "Which output.",
       .schema =
           R"({"type":"string","enum":["text","words","hocr","alto","pdf","facts","facts_csv","fhir",)"
           R"("narrative","results","markdown","chunks","image","manifest","manifest_signature"]})",
       .required = true},
      {.name = "page",
       .description = "Of `image`: of which page.",
       .schema = R"({"type":"integer","minimum":1,"maximum":5000})"}};
}

std::vector<Answer> content_answers() {
  return {{.status = 200, .description = "The content.", .content_type = "*/*"},
          {.status = 206, .description = "The range asked for.", .content_type = "*/*"},
          {.status = 304, .description = "The client has it."}};
}

using Verb = Task<Reply> (*)(Call& call, DocumentServices services);

OperationHandler verb_of(Verb verb, DocumentServices services) {
  return [verb, services](Call& call) { return verb(call, services); };
}

}  // namespace

std::vector<Operation> document_output_operations(DocumentServices services,
                                                  DocumentRouteOptions options) {
  std::vector<Operation> out;
  out.push_back({.id = "documents.output",
                 .method = "GET",
                 .path = "/api/v1/documents/{id}/outputs/{kind}",
                 .tag = "Documents",
                 .summary = "What a document is handed out as, or a range of it",
                 .description = "409 `document_busy` with Retry-After while it may still be made. "
                                "Takes Range, If-Range, If-Match and If-None-Match; the ETag is "
                                "the SHA-256 of the content.",
                 .access = Access::people(Capability::read),
                 .parameters = output_parameters(),
                 .answers = content_answers(),
                 .errors = {404, 409, 412, 416},
                 .time_max = options.time_max,
                 .handler = verb_of(read, services)});
  out.push_back({.id = "documents.link",
                 .method = "POST",
                 .path = "/api/v1/documents/{id}/outputs/{kind}/link",
                 .tag = "Documents",
                 .summary = "A link that opens an output for a while, without a token",
                 .description = "Whoever has it can read the output until it expires. It is made "
                                "now and kept nowhere; revoking the token it was made with ends "
                                "it, except where it leads to the object store itself.",
                 .access = Access::people(Capability::read),
                 .parameters = output_parameters(),
                 .body = RequestBody{.schema = "NewLink", .required = false},
                 .answers = {{.status = 201, .description = "The link.", .schema = "Link"}},
                 .errors = {404, 409},
                 .handler = verb_of(make_link, services)});
  auto parameters = output_parameters();
  parameters.push_back({.name = "token",
                        .description = "Of the link.",
                        .schema = R"({"type":"string","minLength":1,"maxLength":8192})",
                        .required = true});
  out.push_back({.id = "documents.download",
                 .method = "GET",
                 .path = "/api/v1/documents/{id}/outputs/{kind}/download",
                 .tag = "Documents",
                 .summary = "An output of a document, by a link that was made for it",
                 .access = Access::signature(),
                 .parameters = std::move(parameters),
                 .answers = content_answers(),
                 .errors = {401, 403, 404, 409, 412, 416},
                 .time_max = options.time_max,
                 .handler = verb_of(download, services)});
  return out;
}

}  // namespace millrace::api
