// Links to the files of exports: made when somebody asks, for that caller, kept nowhere.
//
// Where the file of a job lies is one question to the database (ExportStore::export_files), for
// states, archives and streams alike. A link may be made long after the request that it is for: a
// stream says at its end where the file is. Threading: the connection's executor.
#pragma once

#include "api/call.h"
#include "api/routes/exports.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace millrace::api {

inline constexpr std::chrono::seconds kExportLinkTtl{3600};  // X-07, T-13

// For whom links are made, apart from the request.
struct LinkHolder {
  store::CallContext context;
  identity::Caller caller;
  std::string base;  // "https://host": what the client reached.
};
LinkHolder link_holder(const Call& call, const ExportServices& services);

// What links are made of.
struct LinkParts {
  store::FileStore& files;
  blob::BlobStore& blobs;
  const SignedLinks& links;
};

struct ExportLink {
  std::string url;
  std::chrono::seconds ttl;
};

// A URL of an object in bucket exports that the caller may see, good for an hour, or as long as the
// file lives where that is less: the blob store's own where it has such. Who follows it gets the
// file as `file_name`, or as it is called in the store where that is empty. not_found
// (MR031) where there is none, or none for a second more.
Task<ExportLink> export_link(LinkParts parts, LinkHolder holder, std::string path,
                             std::string file_name);
inline Task<ExportLink> export_link(ExportServices services, LinkHolder holder, std::string path,
                                    std::string file_name) {
  return export_link(
      LinkParts{.files = services.files, .blobs = services.blobs, .links = services.links},
      std::move(holder), std::move(path), std::move(file_name));
}

// The same of what a job has made; nothing while there is none, or when it has expired or was
// deleted since.
Task<std::optional<std::string>> export_result_link(ExportServices services, LinkHolder holder,
                                                    JobId job);

// "exports/<path>": what a link is bound to.
std::string export_resource(std::string_view path);

}  // namespace millrace::api
