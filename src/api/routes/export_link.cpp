#include "api/routes/export_link.h"

#include "api/file_name.h"
#include "blob/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::api {

LinkHolder link_holder(const Call& call, const ExportServices& services) {
  LinkHolder holder{.context = call.context(),
                    .caller = call.caller,
                    .base = services.links.absolute(call.request, "")};
  holder.caller.claims = {};  // The context has them.
  return holder;
}

Task<ExportLink> export_link(LinkParts parts, LinkHolder holder, std::string path,
                             std::string file_name) {
  MR_CO_TRY(const auto object,
            co_await parts.files.get_object(holder.context, kExportBucket, path));
  // A store that signs by itself does not know when the file expires, and has it until it is swept.
  const auto ttl = std::min(kExportLinkTtl, object.expires_in.value_or(kExportLinkTtl));
  if (ttl < std::chrono::seconds(1)) {
    co_return fail(
        Error{.kind = ErrorKind::not_found, .message = "export expires", .sqlstate = "MR031"});
  }
  file_name = saved_file_name(file_name);
  MR_CO_TRY(const auto key, blob::BlobKey::parse(object.store_key));
  MR_CO_TRY(const auto direct,
            co_await parts.blobs.signed_url(
                key, {.ttl = ttl, .content_type = object.content_type, .file_name = file_name}));
  if (direct) co_return ExportLink{.url = direct->url.reveal(), .ttl = ttl};
  holder.caller.tenant = object.tenant;
  MR_CO_TRY(const auto ticket,
            parts.links.make(holder.caller, {.resource = export_resource(path),
                                             .ttl = ttl,
                                             .file_name = std::move(file_name)}));
  co_return ExportLink{.url = fmt::format("{}/api/v1/export/file/{}?token={}", holder.base,
                                          blob::percent_encode(path, "/"), ticket.text.reveal()),
                       .ttl = ttl};
}

Task<std::optional<std::string>> export_result_link(ExportServices services, LinkHolder holder,
                                                    JobId job) {
  MR_CO_TRY(auto files, co_await services.exports.export_files(holder.context, {job}));
  if (files.empty()) co_return std::nullopt;
  auto& file = files.front();
  auto link =
      co_await export_link(services, std::move(holder), std::move(file.path), std::move(file.name));
  if (!link) {
    if (link.error().kind == ErrorKind::not_found) co_return std::nullopt;
    co_return fail(std::move(link).error());
  }
  co_return std::move(link->url);
}

std::string export_resource(std::string_view path) {
  return fmt::format("{}/{}", kExportBucket, path);
}

}  // namespace millrace::api
