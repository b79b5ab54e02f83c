// UploadStore: uploads under way: what was announced, what is reserved, how far they came.
//
// Flow: begin_upload reserves room; pieces are appended (tus: take_upload, advance_upload) or the
// content is streamed to the blob store at once; finish_upload makes content, object, file row and
// first job of it in one transaction. A process may die anywhere: the reservation ends with the
// upload, and pieces and content that nothing refers to are found by the sweeps (blobs.h). The
// caller has been admitted; these calls run as the server itself, for its tenant, and `user`
// confines them to that user's uploads. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "store/api/session.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

using UploadId = Id<struct UploadIdTag>;

enum class UploadKind {
  file,    // A storage object, a row in shell_files and its first job.
  object,  // A storage object alone.
};

struct NewUpload {
  UploadKind kind = UploadKind::file;
  std::optional<Uuid> user = {};                // Whose it will be; nothing: a service's.
  std::optional<std::int64_t> size_bytes = {};  // Nothing: not known.
  std::int64_t reserve_bytes = 0;               // Where it is not.
  std::string file_name = {};
  std::string content_type = {};
  std::string cache_control = {};
  std::string metadata_json = {};  // An object, 16 KiB at most.
  std::optional<std::chrono::seconds> ttl = {};
  std::string correlation_id = {};
  std::string traceparent = {};
  // Of a file.
  std::optional<Uuid> patient = {};  // Nothing: the profile of the user's own person.
  std::string idempotency_key = {};
  std::string pipeline = {};  // guardian (also where nothing is said) or ingest.
  bool resumable = false;     // It comes in pieces; then its end compares, and it is always opened.
  // Of an object.
  std::string bucket = {};
  std::string object_name = {};
  bool replace = false;
};

// A piece of an upload.
struct UploadPart {
  std::int64_t offset_bytes = 0;
  std::int64_t size_bytes = 0;
  std::string handle;  // Where the server put it.
};

struct UploadState {
  UploadId id;
  TenantId tenant;
  std::optional<Uuid> user;
  UploadKind kind = UploadKind::file;
  std::string state;  // open, expired, done, aborted.
  std::string bucket;
  std::string object_name;
  std::string file_name;
  std::string content_type;  // As announced.
  std::string metadata_json;
  std::optional<std::int64_t> size_bytes;
  std::int64_t offset_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t size_max_bytes = 0;  // What it may have where its size is not known.
  std::int64_t parts_left = 1;      // How many more pieces it may have.
  Clock::Wall expires_at;
  std::string answer_json;  // Of one that is done.
  bool replayed = false;    // As of FinishedUpload.
};

// The file or object that an upload has become.
struct FinishedUpload {
  std::string json;
  bool replayed = false;  // Another upload with the same key had made it before.
};

// Either an upload, or the file that the idempotency key has made already: the server compares
// the content, and answers with that. Never the latter for one that is resumable.
struct UploadBegun {
  std::optional<UploadState> upload;
  std::string existing_json;
  std::string existing_sha256;  // Hexadecimal.
};

// Content that the blob store has, to be referred to now.
struct StoredBlob {
  std::string sha256;  // Hexadecimal.
  std::int64_t size_bytes = 0;
  std::string content_type;  // By the content.
  std::string store_key;
  Clock::Wall stored_at;  // By the clock of the store; more than an hour ago is refused (MR037).
};

// A piece of an upload that has ended, which nothing else in the database is named by. Removed only
// where its bytes are older: somebody may be storing the same content at this moment.
struct DeadPart {
  UploadId upload;
  std::string handle;
  Clock::Wall if_stored_before;
};

class UploadStore {
 public:
  virtual ~UploadStore() = default;

  // throttled: quota_exceeded (MR027). unavailable: maintenance (MR032). conflict (MR011): the key
  // has a file of another patient or pipeline.
  virtual Task<UploadBegun> begin_upload(CallContext caller, NewUpload upload) = 0;
  virtual Task<UploadState> get_upload(CallContext caller, UploadId id,
                                       std::optional<Uuid> user) = 0;
  // Pieces in order, from the one that begins at `from_bytes`; `limit` of them at most.
  virtual Task<std::vector<UploadPart>> list_parts(CallContext caller, UploadId id,
                                                   std::optional<Uuid> user,
                                                   std::int64_t from_bytes, int limit) = 0;
  // Makes `writer` the only one who may append for that long. conflict while another appends.
  virtual Task<UploadState> take_upload(CallContext caller, UploadId id, std::optional<Uuid> user,
                                        Uuid writer, std::chrono::seconds lease) = 0;
  // The new offset. conflict (MR029) where the upload stands elsewhere, which Error::detail tells,
  // or the writer was replaced. A repeat of the same piece finds its own success.
  virtual Task<std::int64_t> advance_upload(CallContext caller, UploadId id, Uuid writer,
                                            UploadPart part) = 0;
  // More room for an upload of unknown size, or its size, once it is known. Renews it, also where
  // its time was over and nobody has given it up yet.
  virtual Task<void> grow_upload(CallContext caller, UploadId id, std::optional<Uuid> user,
                                 std::int64_t reserved_bytes,
                                 std::optional<std::int64_t> size_bytes) = 0;
  // A repeat with the same content answers the same; other content is a conflict (MR011).
  // unavailable (MR037), as of advance_upload: what was stored may have been removed since.
  virtual Task<FinishedUpload> finish_upload(CallContext caller, UploadId id,
                                             std::optional<Uuid> user, StoredBlob blob) = 0;
  // After MR037 with a removal as detail, and a look at the store, which has it still: it can be
  // referred to. False: there was another removal since, which the next call tells.
  virtual Task<bool> clear_removal(std::string store_key, Uuid removal) = 0;
  // False: it has ended before.
  virtual Task<bool> abort_upload(CallContext caller, UploadId id, std::optional<Uuid> user) = 0;

  // Sweeping, by any server, in any number: gives up what has expired and answers pieces to remove;
  // forget_parts says that they are gone, delay_parts that they could not be removed now.
  virtual Task<std::vector<DeadPart>> expire_uploads(int limit) = 0;
  virtual Task<void> forget_parts(std::vector<DeadPart> parts) = 0;
  virtual Task<void> delay_parts(std::vector<DeadPart> parts) = 0;
};

std::unique_ptr<UploadStore> make_upload_store(ApiSession& session);

std::string_view to_string(UploadKind kind);
// {"sha256": …}, as the SQL functions take content.
std::string stored_blob_json(const StoredBlob& blob);

}  // namespace millrace::store
