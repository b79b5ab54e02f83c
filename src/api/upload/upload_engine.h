// UploadEngine: the one way bytes of clients become files and storage objects, whatever form they
// come in.
//
// Flow, content in one request (multipart, raw body, Supabase Storage): receive() announces it
// (room is reserved), streams it into the blob store, which hashes it, looks at its first bytes for
// its type, and makes content, object, file row and first job of it in one transaction. In several
// (tus): begin(), then append() as often as it takes; pieces are kept as blobs, and the last one
// is not noted but finishes: an upload is either done or asks for its last piece again.
//
// What if the process dies: before the transaction nothing refers to what was written; the room is
// free again after Limits::alive_for (uploads in one request) or when the upload expires, and the
// sweep takes the bytes. After it, the same idempotency key (or the same upload) finds its answer.
// A client that goes away is the same, only sooner: room and bytes are given back at once.
//
// Errors are those of UploadStore and BlobStore; what the store below says of the request's own
// body is passed on as it is. Threading: any. Lifetime: what it refers to outlives it.
#pragma once

#include "api/upload/checksum.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "blob/blob_store.h"
#include "store/api/uploads.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace millrace::api {

// Where the bytes of an upload come from: the body of a request, or a part of it.
class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // At least one byte into the front of `buffer`, which is not empty; 0 at the end.
  virtual Task<std::size_t> read(std::span<std::byte> buffer) = 0;
};

struct UploadAnswer {
  std::string json;       // The file or object, as the database tells it.
  bool replayed = false;  // It was there before, under the same idempotency key.
};

// What a client says about the content besides what NewUpload has.
struct Expected {
  std::optional<blob::Digest> sha256 = {};  // Anything else is invalid_argument.
};

// A request that continues an upload.
struct AppendRequest {
  std::int64_t offset_bytes = 0;
  std::optional<std::int64_t> size_bytes = {};  // Of the whole upload, where it was not known.
  // Then the request is one piece: kept when its checksum is right, dropped when it is not.
  std::optional<ExpectedChecksum> checksum = {};
};

struct Appended {
  store::UploadState upload;  // Where it stands now.
  bool checksum_failed = false;
  // The client went away; what came until then was kept. Its connection is of no more use.
  std::optional<Error> broken = {};
};

class UploadEngine {
 public:
  struct Services {
    store::UploadStore& uploads;
    blob::BlobStore& blobs;
    Clock& clock;
    Random& random;
    const Logger& log;
  };

  struct Limits {
    std::chrono::seconds alive_for{120};  // Of an upload in one request; renewed as it goes.
    std::chrono::seconds resumable_for{86'400};
    std::chrono::seconds writer_lease{30};  // Of who appends; renewed as well.
    std::chrono::seconds finish_for{30};    // How long a commit without an answer is repeated.
    std::int64_t piece_bytes = 32LL << 20;  // What a death costs a resumable upload at most.
    std::int64_t reserve_step_bytes = 64LL << 20;  // For content whose size nobody said.
  };

  explicit UploadEngine(Services services) : UploadEngine(services, Limits()) {}
  UploadEngine(Services services, Limits limits);
  ~UploadEngine();
  UploadEngine(const UploadEngine&) = delete;
  UploadEngine& operator=(const UploadEngine&) = delete;

  // All of it, from one request. Content that an idempotency key has made a file of already is
  // read and compared: the same gives the same answer, other content a conflict (MR011).
  Task<UploadAnswer> receive(store::CallContext caller, store::NewUpload upload,
                             ContentSource& content, Expected expected);

  // The resumable form. An upload of no bytes is done at once. What an idempotency key has made
  // already is looked at when all bytes are there: the same content gives the same answer, other
  // content a conflict (MR011).
  Task<store::UploadState> begin(store::CallContext caller, store::NewUpload upload);
  // Looks and does nothing else: whoever may ask must not make the server work for it.
  Task<store::UploadState> look(store::CallContext caller, store::UploadId id,
                                std::optional<Uuid> user);
  // conflict (MR029) where the upload stands elsewhere, another server appends, or this one makes
  // the file. A later append of this process takes the place of an earlier one that still waits
  // for its client.
  Task<Appended> append(store::CallContext caller, store::UploadId id, std::optional<Uuid> user,
                        AppendRequest request, ContentSource& content);
  // False: it has ended before.
  Task<bool> abandon(store::CallContext caller, store::UploadId id, std::optional<Uuid> user);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::api
