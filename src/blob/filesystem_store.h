// FilesystemStore: blobs as files of one folder; the default.
//
//   <root>/<prefix>sha256/ab/ab…   the blobs
//   <root>/<prefix>staging/<uuid>  what is being written
//
// A write fills a file in staging, syncs it, renames it to its final name and syncs that folder: a
// reader finds the whole blob or none, whatever happens in between. Staging must be on the same
// file system, which it is, being inside. A writer holds a lock on its staging file, which the
// kernel drops when the process dies: that is how sweep_staging() knows what is abandoned. Renaming
// and conditional removing hold the lock of the shard's folder, so that a removal cannot take a
// file that was just written anew. Several processes may use one root.
//
// No URLs: signed_url() answers nothing.
#pragma once

#include "base/random.h"
#include "blob/blob_store.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::blob {

struct FilesystemOptions {
  std::filesystem::path root;  // Made when missing, its parents as well.
  std::string prefix = {};
  // Called before each step of a write, on the disk pool: how tests kill the program there.
  std::function<void(std::string_view step)> at_step = {};
};

class FilesystemStore final : public BlobStore {
 public:
  // Blocks: makes the folders. `disk` runs the file operations and outlives the store.
  static Result<std::unique_ptr<FilesystemStore>> make(FilesystemOptions options, Executor disk,
                                                       Clock& clock, Random& random);

  std::string_view name() const override { return "filesystem"; }
  Task<std::unique_ptr<BlobWriter>> create(PutOptions options) override;
  Task<std::unique_ptr<BlobReader>> open(BlobKey key, ByteRange range) override;
  Task<BlobInfo> stat(BlobKey key) override;
  Task<bool> remove(BlobKey key, RemoveOptions options) override;
  Task<BlobPage> list(ListOptions options) override;
  Task<std::optional<SignedUrl>> signed_url(BlobKey key, SignOptions options) override;
  Task<std::size_t> sweep_staging(Clock::Duration older_than) override;
  Task<void> check() override;

 private:
  FilesystemStore(FilesystemOptions options, Executor disk, Clock& clock, Random& random);

  std::filesystem::path path_of(const BlobKey& key) const { return base_ / key.text(); }
  std::filesystem::path staging() const { return base_ / "staging"; }
  Result<bool> remove_now(const BlobKey& key, const RemoveOptions& options) const;
  Result<BlobPage> list_now(const ListOptions& options) const;
  Result<std::size_t> sweep_now(Clock::Wall before) const;
  Result<void> check_now() const;

  FilesystemOptions options_;
  std::filesystem::path base_;  // root and prefix.
  Executor disk_;
  Clock& clock_;
  Random& random_;
};

}  // namespace millrace::blob
