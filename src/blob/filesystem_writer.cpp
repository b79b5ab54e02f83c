#include "blob/filesystem_writer.h"

#include "blob/disk.h"

#include <boost/asio/post.hpp>

#include <cstdio>
#include <unistd.h>

namespace millrace::blob {
namespace {

namespace fs = std::filesystem;

}  // namespace

FilesystemWriter::FilesystemWriter(fs::path base, fs::path staged, PutOptions options,
                                   Executor disk, Step at_step)
    : base_(std::move(base)),
      staged_(std::move(staged)),
      disk_(std::move(disk)),
      at_step_(std::move(at_step)),
      content_(std::move(options)) {}

Result<std::unique_ptr<BlobWriter>> FilesystemWriter::start(fs::path base, fs::path staged,
                                                            PutOptions options, Executor disk,
                                                            Step at_step) {
  std::unique_ptr<FilesystemWriter> writer(new FilesystemWriter(
      std::move(base), std::move(staged), std::move(options), std::move(disk), std::move(at_step)));
  writer->step("create");
  MR_TRY(writer->file_, File::create(writer->staged_));
  writer->step("lock");
  MR_TRY_VOID(writer->file_.lock_shared());
  MR_TRY(const auto status, writer->file_.stat());
  if (status.links == 0) {  // A sweep came between the two.
    return fail(ErrorKind::unavailable, "the staging file was swept away before it was locked");
  }
  return writer;
}

// The folder's file operations are the pool's, also when nobody waits for them.
FilesystemWriter::~FilesystemWriter() {
  if (!file_) return;
  boost::asio::post(
      disk_, [file = std::move(file_), path = std::move(staged_)] { ::unlink(path.c_str()); });
}

void FilesystemWriter::step(std::string_view name) const {
  if (at_step_) at_step_(name);
}

Task<void> FilesystemWriter::write(std::span<const std::byte> bytes) {
  MR_CO_TRY_VOID(state_.may_go_on());
  co_return state_.note(co_await on_disk(disk_, [this, bytes] { return write_now(bytes); }));
}

Result<void> FilesystemWriter::write_now(std::span<const std::byte> bytes) {
  const auto offset = content_.size_bytes();
  MR_TRY_VOID(content_.take(bytes));
  step("write");
  return file_.write_at(offset, bytes);
}

Task<BlobInfo> FilesystemWriter::finish() {
  MR_CO_TRY_VOID(state_.may_go_on());
  state_.end();
  co_return co_await on_disk(disk_, [this] { return finish_now(); });
}

Result<BlobInfo> FilesystemWriter::finish_now() {
  MR_TRY(const BlobKey key, content_.finish());
  step("touch");
  MR_TRY_VOID(file_.touch());  // Its age counts from now, not from its last bytes.
  step("sync");
  MR_TRY_VOID(file_.sync());
  MR_TRY(const auto status, file_.stat());
  MR_TRY_VOID(publish(key));
  return BlobInfo{.key = key, .size_bytes = status.size_bytes, .modified = status.modified};
}

Result<void> FilesystemWriter::publish(const BlobKey& key) {
  const auto final_path = base_ / key.text();
  step("open_shard");
  MR_TRY(auto shard, open_or_make_folder(final_path.parent_path()));
  step("lock_shard");
  MR_TRY_VOID(shard.lock());
  step("rename");
  if (::rename(staged_.c_str(), final_path.c_str()) != 0) return fail_errno("rename", staged_);
  const auto closed = file_.close();  // It has left staging: there is nothing to remove any more.
  step("sync_shard");
  MR_TRY_VOID(shard.sync());
  step("done");
  return closed;
}

Task<void> FilesystemWriter::abort() {
  state_.end();
  if (!file_) co_return ok();
  co_return co_await on_disk(disk_, [this]() -> Result<void> {
    const File closing = std::move(file_);
    if (::unlink(staged_.c_str()) != 0 && errno != ENOENT) return fail_errno("remove", staged_);
    return ok();
  });
}

}  // namespace millrace::blob
