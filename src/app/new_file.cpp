#include "app/new_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace millrace::app {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, int code) {
  return {.kind = ErrorKind::unavailable,
          .message = fmt::format("cannot write {}: {}", path.string(), std::strerror(code))};
}

Result<std::unique_ptr<NewFile>> NewFile::create(const fs::path& path) {
  auto file = std::make_unique<NewFile>();
  file->path_ = path;
  file->part_ = path.parent_path() /
                fmt::format(".{}.{}.part", path.filename().string(), static_cast<int>(::getpid()));
  file->fd_ = cluster::UniqueFd(
      ::open(file->part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file->fd_) return fail(cannot_write(file->part_, errno));
  return file;
}

NewFile::~NewFile() {
  std::error_code ignored;
  if (!kept_ && fd_) fs::remove(part_, ignored);
}

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  sha256_.update(bytes);
  size_bytes_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const auto size = ::write(fd_.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(cannot_write(path_, errno));
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return {};
}

Result<void> NewFile::keep() {
  if (::fsync(fd_.get()) != 0) return fail(cannot_write(path_, errno));
  if (::rename(part_.c_str(), path_.c_str()) != 0) return fail(cannot_write(path_, errno));
  kept_ = true;
  sync_folder();
  return {};
}

Result<bool> NewFile::keep_as(const fs::path& path) {
  if (::fsync(fd_.get()) != 0) return fail(cannot_write(path, errno));
  int error = 0;
  if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    error = errno;
  }
  if (error == EINVAL || error == ENOSYS) {
    // The file system cannot look and take in one step.
    std::error_code ignored;
    const bool there = fs::exists(fs::symlink_status(path, ignored));
    error = there ? EEXIST : ::rename(part_.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  if (error == EEXIST) return false;
  if (error != 0) return fail(cannot_write(path, error));
  path_ = path;
  kept_ = true;
  sync_folder();
  return true;
}

void NewFile::sync_folder() const {
  auto folder = path_.parent_path();
  if (folder.empty()) folder = ".";
  const cluster::UniqueFd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent) (void)::fsync(parent.get());
}

}  // namespace millrace::app
