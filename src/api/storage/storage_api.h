// Storage: objects in buckets for clients of Supabase Storage (supabase-js `storage.from(…)`).
//
// Flow: storage_operations() are entries of the one table of operations, with errors in Storage's
// form. Uploads go through the UploadEngine, content through send_content(), signed URLs through
// SignedLinks; which objects there are for a caller is FileStore's to say, under the caller's role.
// Threading: any. Lifetime: the services outlive the operations.
#pragma once

#include "api/call.h"
#include "api/operation.h"
#include "api/reply.h"
#include "api/upload/signed_links.h"
#include "api/upload/upload_engine.h"
#include "base/task.h"
#include "blob/blob_store.h"
#include "store/api/files.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

struct StorageServices {
  store::FileStore& files;
  UploadEngine& uploads;
  blob::BlobStore& blobs;
  const SignedLinks& links;
};

struct StorageOptions {
  std::chrono::milliseconds time_max = std::chrono::hours(1);  // Of one upload or download.
};

std::vector<Operation> storage_operations(StorageServices services, StorageOptions options);

// The verbs. `bucket` and `path` are parameters of all that concern one object.
Task<Reply> storage_upload(Call& call, StorageServices services);   // POST: x-upsert says whether…
Task<Reply> storage_replace(Call& call, StorageServices services);  // …PUT always replaces.
Task<Reply> storage_download(Call& call, StorageServices services);
Task<Reply> storage_info(Call& call, StorageServices services);
Task<Reply> storage_list(Call& call, StorageServices services);
Task<Reply> storage_buckets(Call& call, StorageServices services);
Task<Reply> storage_bucket(Call& call, StorageServices services);
Task<Reply> storage_remove(Call& call, StorageServices services);
Task<Reply> storage_sign(Call& call, StorageServices services);
Task<Reply> storage_sign_many(Call& call, StorageServices services);
Task<Reply> storage_open_signed(Call& call, StorageServices services);

// Sends an object; `download` in the query makes it an attachment.
Task<Reply> send_object(Call& call, StorageServices services, store::StoredObject object);

// Seconds of a cache time as clients word it: "3600", "max-age=3600". Empty for anything else.
std::string cache_seconds(std::string_view text);
// How long the client may keep an object that says so, as a header: for one caller, because what a
// shared cache kept, it would give to others; not longer than it lives. Empty where it says
// nothing.
std::string cache_control_of(const store::StoredObject& object);

}  // namespace millrace::api
