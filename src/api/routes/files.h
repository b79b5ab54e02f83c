// Files: list, look, read, hand out a link, delete.
//
// A user sees the own ones; what belongs to others does not exist (T-02). Content comes from the
// blob store, whole or in ranges; links are made when somebody asks for one and kept nowhere
// (T-13).
#pragma once

#include "api/operation.h"
#include "api/upload/signed_links.h"
#include "blob/blob_store.h"
#include "store/api/files.h"

#include <chrono>
#include <vector>

namespace millrace::api {

struct FileServices {
  store::FileStore& files;
  blob::BlobStore& blobs;
  const SignedLinks& links;
};

struct FileRouteOptions {
  std::chrono::milliseconds time_max = std::chrono::hours(1);  // Of one download.
};

// The services outlive the operations.
std::vector<Operation> file_operations(FileServices services, FileRouteOptions options);

}  // namespace millrace::api
