// Stores in memory that behave as the real ones do, and content from a list of texts. For tests
// only.
#pragma once

#include "api/upload/upload_engine.h"
#include "base/json.h"
#include "base/run.h"
#include "blob/digest.h"
#include "store/api/blobs.h"
#include "store/api/files.h"
#include "store/api/uploads.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::api {

inline std::string text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class MemoryBlobs final : public blob::BlobStore {
 public:
  struct Kept {
    std::string bytes;
    Clock::Wall modified;
  };

  explicit MemoryBlobs(const Clock& clock) : clock_(clock) {}

  std::string_view name() const override { return "memory"; }
  Task<std::unique_ptr<blob::BlobWriter>> create(blob::PutOptions options) override {
    if (away) co_return fail(ErrorKind::unavailable, "no store");
    co_return std::make_unique<Writer>(*this, std::move(options));
  }
  Task<std::unique_ptr<blob::BlobReader>> open(blob::BlobKey key, blob::ByteRange range) override {
    ++opened;
    const auto found = kept.find(key.text());
    if (found == kept.end()) co_return fail(ErrorKind::not_found, "no blob " + key.text());
    const auto& bytes = found->second.bytes;
    auto part = bytes.substr(range.offset, range.length.value_or(bytes.size()));
    co_return std::make_unique<Reader>(info_of(key, found->second), std::move(part));
  }
  Task<blob::BlobInfo> stat(blob::BlobKey key) override {
    const auto found = kept.find(key.text());
    if (found == kept.end()) co_return fail(ErrorKind::not_found, "no blob " + key.text());
    co_return info_of(key, found->second);
  }
  Task<bool> remove(blob::BlobKey key, blob::RemoveOptions options) override {
    const auto found = kept.find(key.text());
    if (found == kept.end()) co_return true;
    if (options.if_modified_before && found->second.modified >= *options.if_modified_before) {
      co_return false;
    }
    if (at_remove) {
      MR_CO_TRY_VOID(co_await at_remove(key.text()));
    }
    kept.erase(key.text());
    co_return true;
  }
  Task<blob::BlobPage> list(blob::ListOptions options) override {
    blob::BlobPage page;
    for (const auto& [key, blob] : kept) {
      if (key <= options.cursor) continue;
      if (page.blobs.size() == std::min(options.limit, page_max)) {
        page.cursor = page.blobs.back().key.text();
        break;
      }
      page.blobs.push_back(info_of(*blob::BlobKey::parse(key), blob));
    }
    co_return page;
  }
  Task<std::optional<blob::SignedUrl>> signed_url(blob::BlobKey key,
                                                  blob::SignOptions options) override {
    MR_CO_TRY_VOID(blob::check_options(options));
    if (!signs) co_return std::nullopt;
    co_return blob::SignedUrl{
        .url = Secret<std::string>("https://objects.example/" + key.text() + "?sig=1"),
        .expires_at = clock_.wall() + options.ttl};
  }
  Task<std::size_t> sweep_staging(Clock::Duration) override { co_return std::exchange(staged, 0); }
  Task<void> check() override { co_return ok(); }

  std::string put(const std::string& bytes) {  // The key.
    const blob::BlobKey key{.sha256 = blob::sha256(bytes)};
    kept[key.text()] = {.bytes = bytes, .modified = clock_.wall()};
    return key.text();
  }

  std::map<std::string, Kept> kept;
  std::size_t writers = 0;  // That are neither finished nor dropped.
  std::size_t opened = 0;
  std::size_t staged = 0;
  std::size_t page_max = 1000;
  bool away = false;
  bool signs = false;
  // Between the look at the age of a blob and its removal, which its error prevents.
  std::function<Task<void>(std::string)> at_remove;

 private:
  class Writer final : public blob::BlobWriter {
   public:
    Writer(MemoryBlobs& owner, blob::PutOptions options)
        : owner_(owner), options_(std::move(options)) {
      ++owner_.writers;
    }
    ~Writer() override { end(); }
    Task<void> write(std::span<const std::byte> bytes) override {
      bytes_ += text_of_bytes(bytes);
      co_return ok();
    }
    Task<blob::BlobInfo> finish() override {
      const blob::BlobKey key{.sha256 = blob::sha256(bytes_)};
      end();
      if (options_.size_bytes && *options_.size_bytes != bytes_.size()) {
        co_return fail(ErrorKind::invalid_argument, "the content has another size");
      }
      if (options_.sha256 && *options_.sha256 != key.sha256) {
        co_return fail(ErrorKind::invalid_argument, "the content has another digest");
      }
      owner_.put(bytes_);
      co_return info_of(key, owner_.kept[key.text()]);
    }
    Task<void> abort() override {
      end();
      co_return ok();
    }

   private:
    void end() {
      if (!std::exchange(ended_, true)) --owner_.writers;
    }
    MemoryBlobs& owner_;
    blob::PutOptions options_;
    std::string bytes_;
    bool ended_ = false;
  };

  class Reader final : public blob::BlobReader {
   public:
    Reader(blob::BlobInfo info, std::string bytes) : info_(info), bytes_(std::move(bytes)) {}
    const blob::BlobInfo& info() const override { return info_; }
    std::uint64_t left_bytes() const override { return bytes_.size() - at_; }
    Task<std::size_t> read(std::span<std::byte> buffer) override {
      const auto size = std::min(buffer.size(), bytes_.size() - at_);
      std::memcpy(buffer.data(), bytes_.data() + at_, size);
      at_ += size;
      co_return size;
    }

   private:
    blob::BlobInfo info_;
    std::string bytes_;
    std::size_t at_ = 0;
  };

  static blob::BlobInfo info_of(const blob::BlobKey& key, const Kept& blob) {
    return {.key = key, .size_bytes = blob.bytes.size(), .modified = blob.modified};
  }

  const Clock& clock_;
};

// As the SQL functions: rows of uploads, files by idempotency key, a quota.
class MemoryUploads final : public store::UploadStore {
 public:
  struct Row {
    store::UploadState state;
    store::NewUpload announced;
    std::optional<Uuid> writer;
    std::vector<store::UploadPart> parts;
  };

  MemoryUploads(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

  Task<store::UploadBegun> begin_upload(store::CallContext, store::NewUpload upload) override {
    store::UploadBegun begun;
    if (const auto file = files.find(upload.idempotency_key);
        !upload.idempotency_key.empty() && file != files.end()) {
      begun.existing_json = file->second;
      begun.existing_sha256 = member(file->second, "sha256");
      if (!upload.resumable) co_return begun;
      const auto known = parse_json_object(file->second)->at("size_bytes").as_int64();
      if (upload.size_bytes.value_or(known) != known) co_return refused("MR011");
    }
    const auto bytes = upload.size_bytes.value_or(upload.reserve_bytes);
    if (upload.size_bytes.value_or(0) > size_max_bytes) co_return refused("MR038");
    if (reserved() + bytes > quota_bytes) co_return refused("MR027");
    Row row;
    row.state.id = store::UploadId{random_.uuid()};
    row.state.user = upload.user;
    row.state.kind = upload.kind;
    row.state.state = "open";
    row.state.file_name = upload.file_name;
    row.state.content_type = upload.content_type;
    row.state.metadata_json = upload.metadata_json;
    row.state.size_bytes = upload.size_bytes;
    row.state.reserved_bytes = bytes;
    row.state.size_max_bytes = size_max_bytes;
    row.state.expires_at = clock_.wall() + upload.ttl.value_or(std::chrono::hours(24));
    row.announced = std::move(upload);
    rows[row.state.id] = row;
    begun.upload = row.state;
    co_return begun;
  }
  Task<store::UploadState> get_upload(store::CallContext, store::UploadId id,
                                      std::optional<Uuid> user) override {
    auto* row = find(id, user);
    if (row == nullptr) co_return unknown();
    co_return row->state;
  }
  Task<std::vector<store::UploadPart>> list_parts(store::CallContext, store::UploadId id,
                                                  std::optional<Uuid> user, std::int64_t from_bytes,
                                                  int limit) override {
    if (before_list) {
      const auto call = std::exchange(before_list, {});
      co_await call();
    }
    auto* row = find(id, user);
    if (row == nullptr) co_return unknown();
    std::vector<store::UploadPart> parts;
    for (const auto& part : row->parts) {
      const bool fits = std::ssize(parts) < std::min(limit, parts_at_once);
      if (part.offset_bytes >= from_bytes && fits) parts.push_back(part);
    }
    ++lists;
    co_return parts;
  }
  Task<store::UploadState> take_upload(store::CallContext, store::UploadId id,
                                       std::optional<Uuid> user, Uuid writer,
                                       std::chrono::seconds lease) override {
    auto* row = find(id, user);
    if (row == nullptr) co_return unknown();
    if (row->state.state != "open") co_return ended(*row);
    if (row->writer && *row->writer != writer) co_return busy("busy");
    row->writer = writer;
    if (lease <= std::chrono::seconds(1)) row->writer.reset();
    co_return row->state;
  }
  Task<std::int64_t> advance_upload(store::CallContext, store::UploadId id, Uuid writer,
                                    store::UploadPart part) override {
    auto* row = find(id, {});
    if (row == nullptr) co_return unknown();
    if (row->state.state != "open") co_return ended(*row);
    if (row->writer != writer) co_return busy("busy");
    if (row->state.offset_bytes != part.offset_bytes) {
      co_return busy(std::to_string(row->state.offset_bytes));
    }
    row->state.offset_bytes += part.size_bytes;
    row->parts.push_back(part);
    ++advances;
    co_return row->state.offset_bytes;
  }
  Task<void> grow_upload(store::CallContext, store::UploadId id, std::optional<Uuid> user,
                         std::int64_t reserved_bytes,
                         std::optional<std::int64_t> size_bytes) override {
    auto* row = find(id, user);
    if (row == nullptr) co_return unknown();
    if (row->state.state != "open") co_return ended(*row);
    const auto more = std::max(reserved_bytes, size_bytes.value_or(0));
    if (reserved() - row->state.reserved_bytes + more > quota_bytes) co_return refused("MR027");
    row->state.reserved_bytes = std::max(row->state.reserved_bytes, more);
    if (size_bytes) row->state.size_bytes = size_bytes;
    ++grows;
    co_return ok();
  }
  Task<store::FinishedUpload> finish_upload(store::CallContext, store::UploadId id,
                                            std::optional<Uuid> user,
                                            store::StoredBlob blob) override {
    ++finishes;
    if (!refusals.empty()) {
      auto error = std::move(refusals.front());
      refusals.pop_front();
      co_return fail(std::move(error));
    }
    auto* row = find(id, user);
    if (row == nullptr) co_return unknown();
    if (row->state.state == "done") {
      co_return store::FinishedUpload{row->state.answer_json, row->state.replayed};
    }
    if (row->state.state != "open") co_return ended(*row);
    const auto key =
        row->announced.idempotency_key.empty() ? id.to_string() : row->announced.idempotency_key;
    auto& file = files[key];
    if (!file.empty() && member(file, "sha256") != blob.sha256) co_return refused("MR011");
    row->state.replayed = !file.empty();
    if (file.empty()) {
      file = to_json(json::Object{{"id", random_.uuid().to_string()},
                                  {"job_id", random_.uuid().to_string()},
                                  {"sha256", blob.sha256},
                                  {"size_bytes", blob.size_bytes},
                                  {"content_type", blob.content_type},
                                  {"file_name", row->announced.file_name},
                                  {"storage_path", blob.store_key}});
    }
    row->state.state = "done";
    row->state.answer_json = file;
    row->state.size_bytes = blob.size_bytes;
    row->state.reserved_bytes = 0;
    if (!lost_answers.empty()) {
      const auto kind = lost_answers.front();
      lost_answers.pop_front();
      co_return fail(kind, "the connection was lost");
    }
    co_return store::FinishedUpload{file, row->state.replayed};
  }
  Task<bool> clear_removal(std::string, Uuid) override {
    ++cleared;
    co_return true;
  }
  Task<bool> abort_upload(store::CallContext, store::UploadId id,
                          std::optional<Uuid> user) override {
    auto* row = find(id, user);
    if (row == nullptr) co_return unknown();
    if (row->state.state == "done") co_return false;
    row->state.state = "aborted";
    row->state.reserved_bytes = 0;
    co_return true;
  }
  Task<std::vector<store::DeadPart>> expire_uploads(int) override { co_return dead; }
  Task<void> forget_parts(std::vector<store::DeadPart> parts) override {
    forgotten += parts.size();
    for (const auto& part : parts) {
      std::erase_if(dead, [&](const auto& other) { return other.handle == part.handle; });
    }
    co_return ok();
  }
  Task<void> delay_parts(std::vector<store::DeadPart> parts) override {
    delayed += parts.size();
    co_return ok();
  }

  std::int64_t reserved() const {
    std::int64_t sum = 0;
    for (const auto& [id, row] : rows) sum += row.state.reserved_bytes;
    return sum;
  }
  static std::string member(const std::string& json, std::string_view name) {
    const auto object = parse_json_object(json);
    const auto* value = object ? object->if_contains(name) : nullptr;
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  }

  std::map<store::UploadId, Row> rows;
  std::map<std::string, std::string> files;  // JSON by idempotency key.
  std::vector<store::DeadPart> dead;
  std::deque<ErrorKind> lost_answers;            // Of finish_upload, which did it all the same.
  std::deque<Error> refusals;                    // Of finish_upload, which did nothing.
  std::function<awaitable<void>()> before_list;  // Once.
  int parts_at_once = 1000;
  std::int64_t quota_bytes = 1LL << 40;
  std::int64_t size_max_bytes = 1LL << 30;
  std::size_t advances = 0;
  std::size_t grows = 0;
  std::size_t finishes = 0;
  std::size_t lists = 0;
  std::size_t cleared = 0;
  std::size_t forgotten = 0;
  std::size_t delayed = 0;

 private:
  Row* find(store::UploadId id, std::optional<Uuid> user) {
    const auto found = rows.find(id);
    if (found == rows.end() || (user && found->second.state.user != user)) return nullptr;
    return &found->second;
  }
  static std::unexpected<Error> unknown() {
    return fail(Error{
        .kind = ErrorKind::not_found, .message = "the upload does not exist", .sqlstate = "MR028"});
  }
  static std::unexpected<Error> ended(const Row& row) {
    return fail(Error{.kind = ErrorKind::not_found,
                      .message = "the upload has ended",
                      .sqlstate = "MR028",
                      .hint = {},
                      .detail = row.state.state});
  }
  static std::unexpected<Error> busy(std::string detail) {
    return fail(Error{.kind = ErrorKind::conflict,
                      .message = "the upload stands elsewhere",
                      .sqlstate = "MR029",
                      .hint = {},
                      .detail = std::move(detail)});
  }
  static std::unexpected<Error> refused(std::string sqlstate) {
    return fail(
        Error{.kind = ErrorKind::throttled, .message = "refused", .sqlstate = std::move(sqlstate)});
  }

  const Clock& clock_;
  Random& random_;
};

// Files and objects of one owner; others see nothing.
class MemoryFiles final : public store::FileStore {
 public:
  struct Kept {
    store::StoredObject object;
    std::string file_name;
    std::string owner;                             // The subject of the caller who may see it.
    std::string content_type = "application/pdf";  // As found in it.
  };

  Task<store::Versioned> get_file(store::CallContext caller, Uuid file) override {
    const auto* found = find(caller, file);
    if (found == nullptr) co_return unknown("MR039");
    co_return store::Versioned{.json = json_of(file, *found), .version = version};
  }
  Task<std::string> list_files(store::CallContext, store::FileList list) override {
    last_list = list;
    std::string rows;
    for (const auto& [id, kept] : files) {
      if (list.before && id >= *list.before) continue;
      rows = json_of(id, kept) + (rows.empty() ? "" : "," + rows);
    }
    co_return "[" + rows + "]";
  }
  Task<std::string> delete_shell_file(store::CallContext caller, Uuid id,
                                      store::WantedVersions wanted) override {
    if (wanted && std::ranges::find(*wanted, version) == wanted->end()) {
      co_return fail(
          Error{.kind = ErrorKind::conflict, .message = "it has changed", .sqlstate = "MR040"});
    }
    if (find(caller, id) == nullptr) co_return "[]";
    auto row = json_of(id, files.at(id));
    files.erase(id);
    co_return "[" + row + "]";
  }
  Task<store::StoredObject> get_object(store::CallContext, std::string, std::string name) override {
    for (const auto& [id, kept] : files) {
      if (kept.object.name == name) co_return kept.object;
    }
    co_return unknown("MR031");
  }
  Task<std::string> list_buckets(store::CallContext, std::optional<std::string>) override {
    co_return "[]";
  }
  Task<std::string> list_objects(store::CallContext, store::ObjectList) override { co_return "[]"; }
  Task<std::string> remove_objects(store::CallContext, std::string,
                                   std::vector<std::string>) override {
    co_return "[]";
  }
  Task<store::Download> count_download(store::CallContext, Uuid) override {
    co_return unknown("MR031");
  }
  Task<store::Download> find_download(store::CallContext, Uuid) override {
    co_return unknown("MR031");
  }
  Task<std::string> list_export_history(store::CallContext, std::optional<Uuid>, int) override {
    co_return "[]";
  }
  Task<std::string> delete_export_history(store::CallContext, std::vector<Uuid>) override {
    co_return "[]";
  }

  // A file of somebody with this content in `blobs`.
  Uuid put(MemoryBlobs& blobs, const std::string& bytes, const std::string& owner, Random& random) {
    const auto id = random.uuid();
    store::StoredObject object;
    object.bucket = "medical-docs";
    object.name = owner + "/" + id.to_string() + "_file";
    object.sha256 = blob::sha256(bytes).hex();
    object.store_key = blobs.put(bytes);
    object.size_bytes = static_cast<std::int64_t>(bytes.size());
    object.content_type = "application/pdf";
    files[id] = {.object = std::move(object), .file_name = "Befund \"März\".pdf", .owner = owner};
    return id;
  }

  std::map<Uuid, Kept> files;
  store::FileList last_list;
  std::string version = "v1";  // Of all files.

 private:
  const Kept* find(const store::CallContext& caller, Uuid id) const {
    const auto found = files.find(id);
    const bool seen = found != files.end() && caller.claims_json.contains(found->second.owner);
    return seen ? &found->second : nullptr;
  }
  static std::string json_of(Uuid id, const Kept& kept) {
    return to_json(json::Object{{"id", id.to_string()},
                                {"bucket", kept.object.bucket},
                                {"storage_path", kept.object.name},
                                {"file_name", kept.file_name},
                                {"content_type", kept.content_type},
                                {"size_bytes", kept.object.size_bytes},
                                {"sha256", kept.object.sha256}});
  }
  static std::unexpected<Error> unknown(std::string sqlstate) {
    return fail(Error{.kind = ErrorKind::not_found,
                      .message = "it does not exist",
                      .sqlstate = std::move(sqlstate)});
  }
};

// Content in pieces of any size, with something that happens before each, or an error at the end.
class TextSource final : public ContentSource {
 public:
  explicit TextSource(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}

  Task<std::size_t> read(std::span<std::byte> buffer) override {
    if (before_read) {
      const auto call = std::exchange(before_read, {});
      co_await call();
    }
    while (at_ < pieces_.size() && pieces_[at_].empty()) ++at_;
    if (at_ == pieces_.size()) {
      if (error) co_return fail(*error);
      co_return std::size_t{0};
    }
    auto& piece = pieces_[at_];
    const auto size = std::min(piece.size(), buffer.size());
    std::memcpy(buffer.data(), piece.data(), size);
    piece.erase(0, size);
    read_bytes += size;
    co_return size;
  }

  std::optional<Error> error;
  std::function<awaitable<void>()> before_read;  // Once.
  std::size_t read_bytes = 0;

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
};

}  // namespace millrace::api
