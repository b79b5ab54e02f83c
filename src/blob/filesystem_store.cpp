#include "blob/filesystem_store.h"

#include "blob/disk.h"
#include "blob/file.h"
#include "blob/filesystem_reader.h"
#include "blob/filesystem_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace millrace::blob {
namespace {

namespace fs = std::filesystem;

// The names in a folder, in order; none when there is no such folder, or something else.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot list {}: {}", folder.string(), error.message()));
  }
  std::ranges::sort(names);
  return names;
}

std::unexpected<Error> no_such_blob(const BlobKey& key) {
  return fail(ErrorKind::not_found, fmt::format("no blob {}", key.text()));
}

struct Found {
  File file;
  BlobInfo info;
};

Result<Found> find(const fs::path& path, const BlobKey& key) {
  auto file = File::open(path);
  if (!file && file.error().kind == ErrorKind::not_found) return no_such_blob(key);
  if (!file) return fail(std::move(file).error());
  MR_TRY(const auto status, file->stat());
  return Found{.file = *std::move(file),
               .info = {.key = key, .size_bytes = status.size_bytes, .modified = status.modified}};
}

}  // namespace

FilesystemStore::FilesystemStore(FilesystemOptions options, Executor disk, Clock& clock,
                                 Random& random)
    : options_(std::move(options)),
      base_(options_.root / options_.prefix),
      disk_(std::move(disk)),
      clock_(clock),
      random_(random) {}

Result<std::unique_ptr<FilesystemStore>> FilesystemStore::make(FilesystemOptions options,
                                                               Executor disk, Clock& clock,
                                                               Random& random) {
  if (options.root.empty()) {
    return fail(ErrorKind::invalid_argument, "the folder of the blob store is not set");
  }
  MR_TRY(options.prefix, checked_prefix(options.prefix, "prefix"));
  std::unique_ptr<FilesystemStore> store(
      new FilesystemStore(std::move(options), std::move(disk), clock, random));
  MR_TRY_VOID(make_folders(store->base_));
  MR_TRY_VOID(make_folder(store->staging()));
  MR_TRY_VOID(make_folder(store->base_ / "sha256"));
  MR_TRY_VOID(store->check_now());
  return store;
}

Task<std::unique_ptr<BlobWriter>> FilesystemStore::create(PutOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  co_return co_await on_disk(disk_, [this, &options] {
    return FilesystemWriter::start(base_, staging() / random_.uuid().to_string(),
                                   std::move(options), disk_, options_.at_step);
  });
}

Task<std::unique_ptr<BlobReader>> FilesystemStore::open(BlobKey key, ByteRange range) {
  co_return co_await on_disk(disk_, [this, key, range]() -> Result<std::unique_ptr<BlobReader>> {
    MR_TRY(auto found, find(path_of(key), key));
    MR_TRY(auto checked, VerifiedRange::make(found.info, range));
    return std::make_unique<FilesystemReader>(std::move(found.file), std::move(checked), disk_);
  });
}

Task<BlobInfo> FilesystemStore::stat(BlobKey key) {
  co_return co_await on_disk(disk_, [this, key]() -> Result<BlobInfo> {
    MR_TRY(const auto found, find(path_of(key), key));
    return found.info;
  });
}

Task<bool> FilesystemStore::remove(BlobKey key, RemoveOptions options) {
  co_return co_await on_disk(disk_, [this, key, options] { return remove_now(key, options); });
}

Result<bool> FilesystemStore::remove_now(const BlobKey& key, const RemoveOptions& options) const {
  const auto path = path_of(key);
  auto shard = File::open_folder(path.parent_path());
  if (!shard && shard.error().kind == ErrorKind::not_found) return true;
  if (!shard) return fail(std::move(shard).error());
  MR_TRY_VOID(shard->lock());
  if (options.if_modified_before) {
    const auto found = find(path, key);
    if (!found && found.error().kind == ErrorKind::not_found) return true;
    if (!found) return fail(found.error());
    if (found->info.modified >= *options.if_modified_before) return false;
  }
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return true;
    return fail_errno("remove", path);
  }
  MR_TRY_VOID(shard->sync());
  return true;
}

Task<BlobPage> FilesystemStore::list(ListOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  if (!options.cursor.empty()) MR_CO_TRY_VOID(BlobKey::parse(options.cursor));
  co_return co_await on_disk(disk_, [this, &options] { return list_now(options); });
}

// In the order of keys; the cursor is the last key of the page before.
Result<BlobPage> FilesystemStore::list_now(const ListOptions& options) const {
  BlobPage page;
  MR_TRY(const auto shards, names_in(base_ / "sha256"));
  for (const auto& shard : shards) {
    const auto first = fmt::format("{}{}", kKeyRoot, shard);
    if (first < options.cursor.substr(0, first.size())) continue;
    MR_TRY(const auto names, names_in(base_ / "sha256" / shard));
    for (const auto& name : names) {
      const auto key = BlobKey::parse(fmt::format("{}/{}", first, name));
      if (!key || key->text() <= options.cursor) continue;  // Not ours, or seen.
      if (page.blobs.size() == options.limit) {
        page.cursor = page.blobs.back().key.text();
        return page;
      }
      auto found = find(path_of(*key), *key);
      if (found) page.blobs.push_back(found->info);
      if (!found && found.error().kind != ErrorKind::not_found) return fail(found.error());
    }
  }
  return page;
}

Task<std::optional<SignedUrl>> FilesystemStore::signed_url(BlobKey, SignOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  co_return std::nullopt;
}

Task<std::size_t> FilesystemStore::sweep_staging(Clock::Duration older_than) {
  const auto before = clock_.wall() - std::chrono::duration_cast<Clock::Wall::duration>(older_than);
  co_return co_await on_disk(disk_, [this, before] { return sweep_now(before); });
}

Result<std::size_t> FilesystemStore::sweep_now(Clock::Wall before) const {
  std::size_t removed = 0;
  MR_TRY(const auto names, names_in(staging()));
  for (const auto& name : names) {
    if (!Uuid::parse(name)) continue;  // Not ours.
    const auto path = staging() / name;
    auto file = File::open(path);
    if (!file) continue;  // Finished meanwhile, or not ours after all.
    const auto status = file->stat();
    if (!status || status->modified >= before || !file->try_lock()) continue;
    if (::unlink(path.c_str()) == 0) ++removed;
  }
  return removed;
}

Task<void> FilesystemStore::check() {
  co_return co_await on_disk(disk_, [this] { return check_now(); });
}

Result<void> FilesystemStore::check_now() const {
  MR_TRY(auto file, File::unnamed(staging()));
  const std::byte one{1};
  MR_TRY_VOID(file.write_at(0, std::span(&one, 1)));
  MR_TRY_VOID(names_in(base_ / "sha256"));
  return ok();
}

}  // namespace millrace::blob
