#include "api/routes/export_link.h"

#include "blob/url.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

constexpr std::size_t kNameMaxBytes = 1'024;  // It stands in the link.

}  // namespace

LinkHolder link_holder(const Call& call, const ExportServices& services) {
  LinkHolder holder{.context = call.context(),
                    .caller = call.caller,
                    .base = services.links.absolute(call.request, "")};
  holder.caller.claims = {};  // The context has them.
  return holder;
}

Task<std::string> export_link(ExportServices services, LinkHolder holder, std::string path,
                              std::string file_name) {
  MR_CO_TRY(const auto object,
            co_await services.files.get_object(holder.context, kExportBucket, path));
  MR_CO_TRY(const auto key, blob::BlobKey::parse(object.store_key));
  MR_CO_TRY(const auto direct,
            co_await services.blobs.signed_url(key, {.ttl = kExportLinkTtl,
                                                     .content_type = object.content_type,
                                                     .file_name = file_name}));
  if (direct) co_return direct->url.reveal();
  holder.caller.tenant = object.tenant;
  if (file_name.size() > kNameMaxBytes) file_name.clear();
  MR_CO_TRY(const auto ticket,
            services.links.make(holder.caller, {.resource = export_resource(path),
                                                .ttl = kExportLinkTtl,
                                                .file_name = std::move(file_name)}));
  co_return fmt::format("{}/api/v1/export/file/{}?token={}", holder.base,
                        blob::percent_encode(path, "/"), ticket.text.reveal());
}

Task<std::optional<std::string>> export_result_link(ExportServices services, LinkHolder holder,
                                                    JobId job) {
  MR_CO_TRY(auto files, co_await services.exports.export_files(holder.context, {job}));
  if (files.empty()) co_return std::nullopt;
  auto& file = files.front();
  auto url =
      co_await export_link(services, std::move(holder), std::move(file.path), std::move(file.name));
  if (!url) {
    if (url.error().kind == ErrorKind::not_found) co_return std::nullopt;
    co_return fail(std::move(url).error());
  }
  co_return *std::move(url);
}

std::string export_resource(std::string_view path) {
  return fmt::format("{}/{}", kExportBucket, path);
}

}  // namespace millrace::api
