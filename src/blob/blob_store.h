// BlobStore: where the bytes of documents, artifacts and large payloads are kept.
//
// Flow: create() gives a writer; bytes go in as they come; finish() names what was written by its
// digest and only then makes it visible, whole. open() gives a reader that hands the bytes out
// again and checks them against that name. Rows keep the key, never a URL: signed_url() makes one
// when somebody is about to follow it.
//
// What every store promises, and tests/blob tries:
//   - A write is all or nothing, also when the process dies at any point of it. What such a death
//     leaves behind is invisible and goes with sweep_staging().
//   - Writing the same content again is no error, leaves one object, and makes it as young as a new
//     one, so that a sweep of old orphans does not take it from under its new owner.
//   - Memory does not grow with the size of a blob. No call blocks an I/O thread.
//   - The last bytes of a blob read from its beginning are handed out only if all of it has the
//     digest it is named by. A range that does not start at 0 is checked by its length only.
//
// Errors: not_found (no such blob), invalid_argument (names the field and the rule), throttled (the
// store, or our own spool, asks to slow down), unavailable (not reached, or failing; already tried
// several times), internal (wrong credentials, no such bucket, damaged content). Never in_doubt:
// every step can be repeated, and has been. No message holds a credential or a signed URL.
//
// Threading: all calls from any thread; one writer or reader belongs to one coroutine at a time.
// Lifetime: the store outlives its writers and readers; buffers outlive the call they are given to.
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "base/task.h"
#include "blob/blob_key.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::blob {

inline constexpr std::uint64_t kBlobMaxBytes = 1ULL << 40;  // Every store can hold one of 1 TiB.

struct BlobInfo {
  BlobKey key;
  std::uint64_t size_bytes = 0;
  Clock::Wall modified;  // When it was last written, by the store's clock.
};

struct PutOptions {
  // What a store says the blob is when somebody follows a signed URL that does not say otherwise.
  std::string content_type = "application/octet-stream";
  std::uint64_t size_max_bytes = kBlobMaxBytes;  // More is invalid_argument.
  std::optional<std::uint64_t> size_bytes = {};  // When known: anything else is invalid_argument.
  std::optional<Digest> sha256 = {};             // Likewise.
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length = {};  // To the end, or shorter when there is less.
};

struct ListOptions {
  std::string cursor = {};   // Of the page before; empty for the first.
  std::size_t limit = 1000;  // 1 to 1000.
};

struct BlobPage {
  std::vector<BlobInfo> blobs;  // At most as many as asked for; fewer does not mean the end.
  std::string cursor;           // Empty: that was all.
};

struct RemoveOptions {
  // Keeps it when it was written at or after that time. Where the store cannot compare and remove
  // in one step (S3, Supabase) a write in the same moment may be lost: docs/storage.md says how
  // the database keeps such content from being referred to.
  std::optional<Clock::Wall> if_modified_before = {};
};

struct SignOptions {
  std::chrono::seconds ttl{300};  // 1 s to 7 days.
  // How the answer shall describe itself. Part of the signature where the store allows it.
  std::string content_type = {};
  std::string file_name = {};  // UTF-8; becomes Content-Disposition: attachment.
};

struct SignedUrl {
  Secret<std::string> url;  // Whoever has it can read the blob.
  Clock::Wall expires_at;
};

// Dropping a writer that was not finished is abort() without waiting for it. After an error only
// abort() is left.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  virtual Task<void> write(std::span<const std::byte> bytes) = 0;
  virtual Task<BlobInfo> finish() = 0;
  virtual Task<void> abort() = 0;  // Safe after anything; what was finished stays.
};

class BlobReader {
 public:
  virtual ~BlobReader() = default;
  virtual const BlobInfo& info() const = 0;      // Of the whole blob.
  virtual std::uint64_t left_bytes() const = 0;  // Of the range: what read() will still give.
  // At least one byte into the front of `buffer`, which is not empty; 0 at the end.
  virtual Task<std::size_t> read(std::span<std::byte> buffer) = 0;
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;
  virtual std::string_view name() const = 0;  // "filesystem", "s3", "azure", "supabase".

  virtual Task<std::unique_ptr<BlobWriter>> create(PutOptions options) = 0;
  // An offset behind the end is invalid_argument; at the end, the range is empty.
  virtual Task<std::unique_ptr<BlobReader>> open(BlobKey key, ByteRange range) = 0;
  virtual Task<BlobInfo> stat(BlobKey key) = 0;
  // False: kept, because it is too young. What is not there counts as removed.
  virtual Task<bool> remove(BlobKey key, RemoveOptions options) = 0;
  // All blobs, each once, those written or removed meanwhile perhaps; in no particular order.
  virtual Task<BlobPage> list(ListOptions options) = 0;
  // Nothing where the store has no URLs of its own (filesystem): the API server makes them then.
  // Does not look whether the blob exists, except on Supabase, which answers not_found.
  virtual Task<std::optional<SignedUrl>> signed_url(BlobKey key, SignOptions options) = 0;
  // Removes what writers that died left behind, if it is older than that; says how many. A store in
  // the network cannot tell a dead writer from a slow one: allow for the longest upload.
  virtual Task<std::size_t> sweep_staging(Clock::Duration older_than) = 0;
  // The store is there and knows us: for start-up, readiness and `doctor`. Writes no blob.
  virtual Task<void> check() = 0;
};

// Refuses options that no store takes; every implementation asks first.
Result<void> check_options(const PutOptions& options);
Result<void> check_options(const ListOptions& options);
Result<void> check_options(const SignOptions& options);

// "attachment; filename=…" by RFC 6266: quotes, controls and separators replaced, the real name in
// filename* when it is not plain ASCII.
std::string content_disposition(std::string_view file_name);

}  // namespace millrace::blob
