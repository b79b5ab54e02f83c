// Fakes behind the storage operations, for tests only: objects of one tenant in memory, uploads
// that are noted, and content that is a text.
#pragma once

#include "api/storage/storage_api.h"
#include "store/api/uploads.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::api {

inline const std::string kContent = "the content of an object";
inline const std::string kSha256 =
    "b8d4cb1d2d1d1b8d9cc8a4e5a2f3b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4";

class FakeFiles final : public store::FileStore {
 public:
  Task<store::StoredObject> get_object(store::CallContext caller, std::string bucket,
                                       std::string name) override {
    last_caller = std::move(caller);
    if (bucket + "/" + name != object_key) {
      co_return fail(Error{.kind = ErrorKind::not_found,
                           .message = "object does not exist in bucket",
                           .sqlstate = "MR031"});
    }
    co_return store::StoredObject{.id = Uuid{},
                                  .tenant = tenant,
                                  .bucket = std::move(bucket),
                                  .name = std::move(name),
                                  .owner = {},
                                  .sha256 = kSha256,
                                  .store_key = "sha256/" + kSha256.substr(0, 2) + "/" + kSha256,
                                  .size_bytes = static_cast<std::int64_t>(kContent.size()),
                                  .content_type = "application/pdf",
                                  .cache_control = "3600",
                                  .json = object_json,
                                  .expires_in = expires_in};
  }
  Task<std::string> list_buckets(store::CallContext caller,
                                 std::optional<std::string> name) override {
    last_caller = std::move(caller);
    co_return name && *name != "exports" ? "[]" : buckets_json;
  }
  Task<std::string> list_objects(store::CallContext, store::ObjectList list) override {
    last_list = std::move(list);
    co_return rows_json;
  }
  Task<std::string> remove_objects(store::CallContext, std::string,
                                   std::vector<std::string> names) override {
    removed = std::move(names);
    co_return rows_json;
  }
  Task<store::Versioned> get_file(store::CallContext, Uuid) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<std::string> list_files(store::CallContext, store::FileList) override { return unused(); }
  Task<std::string> delete_shell_file(store::CallContext, Uuid, store::WantedVersions) override {
    return unused();
  }
  Task<store::Download> count_download(store::CallContext, Uuid) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<store::Download> find_download(store::CallContext, Uuid) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<std::string> list_export_history(store::CallContext, std::optional<Uuid>, int) override {
    return unused();
  }
  Task<std::string> delete_export_history(store::CallContext, std::vector<Uuid>) override {
    return unused();
  }

  static Task<std::string> unused() { co_return fail(ErrorKind::internal, "not used"); }

  TenantId tenant;
  std::string object_key = "exports/user/a file.pdf";
  std::string object_json = "{}";
  std::optional<std::chrono::seconds> expires_in;  // Of the object.
  std::string rows_json = "[]";
  std::string buckets_json = R"([{"bucket":"exports","file_size_limit":1048576,
    "allowed_mime_types":["application/pdf"],"created_at":"2026-01-01T00:00:00Z"}])";
  store::CallContext last_caller;
  store::ObjectList last_list;
  std::vector<std::string> removed;
};

class FakeUploads final : public store::UploadStore {
 public:
  Task<store::UploadBegun> begin_upload(store::CallContext, store::NewUpload upload) override {
    begun = std::move(upload);
    // As far as a request needs to come to be told apart; the engine has tests of its own.
    co_return fail(Error{.kind = ErrorKind::conflict,
                         .message = "object 'a' exists in bucket 'exports'",
                         .sqlstate = "MR030"});
  }
  Task<store::UploadState> get_upload(store::CallContext, store::UploadId,
                                      std::optional<Uuid>) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<std::vector<store::UploadPart>> list_parts(store::CallContext, store::UploadId,
                                                  std::optional<Uuid>, std::int64_t, int) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<store::UploadState> take_upload(store::CallContext, store::UploadId, std::optional<Uuid>,
                                       Uuid, std::chrono::seconds) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<std::int64_t> advance_upload(store::CallContext, store::UploadId, Uuid,
                                    store::UploadPart) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<void> grow_upload(store::CallContext, store::UploadId, std::optional<Uuid>, std::int64_t,
                         std::optional<std::int64_t>) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<store::FinishedUpload> finish_upload(store::CallContext, store::UploadId,
                                            std::optional<Uuid>, store::StoredBlob) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<bool> clear_removal(std::string, Uuid) override { co_return false; }
  Task<bool> abort_upload(store::CallContext, store::UploadId, std::optional<Uuid>) override {
    co_return false;
  }
  Task<std::vector<store::DeadPart>> expire_uploads(int) override {
    co_return std::vector<store::DeadPart>();
  }
  Task<void> forget_parts(std::vector<store::DeadPart>) override { co_return ok(); }
  Task<void> delay_parts(std::vector<store::DeadPart>) override { co_return ok(); }

  store::NewUpload begun;
};

class TextReader final : public blob::BlobReader {
 public:
  explicit TextReader(blob::BlobInfo info) : info_(std::move(info)) {}

  const blob::BlobInfo& info() const override { return info_; }
  std::uint64_t left_bytes() const override { return left_.size(); }
  Task<std::size_t> read(std::span<std::byte> buffer) override {
    const auto size = std::min(buffer.size(), left_.size());
    std::memcpy(buffer.data(), left_.data(), size);
    left_.remove_prefix(size);
    co_return size;
  }

 private:
  blob::BlobInfo info_;
  std::string_view left_ = kContent;
};

// Any key opens the one content.
class TextBlobs : public blob::BlobStore {
 public:
  std::string_view name() const override { return "text"; }
  Task<std::unique_ptr<blob::BlobReader>> open(blob::BlobKey key, blob::ByteRange) override {
    co_return std::make_unique<TextReader>(
        blob::BlobInfo{.key = key, .size_bytes = kContent.size(), .modified = {}});
  }
  Task<std::unique_ptr<blob::BlobWriter>> create(blob::PutOptions) override {
    co_return fail(ErrorKind::internal, "not used");
  }
  Task<blob::BlobInfo> stat(blob::BlobKey key) override {
    co_return blob::BlobInfo{.key = key, .size_bytes = kContent.size(), .modified = {}};
  }
  Task<bool> remove(blob::BlobKey, blob::RemoveOptions) override { co_return false; }
  Task<blob::BlobPage> list(blob::ListOptions) override { co_return blob::BlobPage(); }
  Task<std::optional<blob::SignedUrl>> signed_url(blob::BlobKey, blob::SignOptions) override {
    co_return std::nullopt;
  }
  Task<std::size_t> sweep_staging(Clock::Duration) override { co_return std::size_t{0}; }
  Task<void> check() override { co_return ok(); }
};

}  // namespace millrace::api
