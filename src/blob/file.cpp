#include "blob/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace millrace::blob {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

Clock::Wall to_wall(const timespec& time) {
  return Clock::Wall(std::chrono::duration_cast<Clock::Wall::duration>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

}  // namespace

std::unexpected<Error> fail_errno(std::string_view verb, const fs::path& path) {
  const int code = errno;
  const auto kind = code == ENOENT ? ErrorKind::not_found
                    : code == EACCES || code == EPERM || code == EROFS || code == ENOTDIR ||
                            code == EISDIR || code == ELOOP
                        ? ErrorKind::internal
                        : ErrorKind::unavailable;
  return fail(kind, fmt::format("cannot {} {}: {}", verb, path.string(),
                                std::generic_category().message(code)));
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

Result<File> File::create(const fs::path& path) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (fd < 0) return fail_errno("create", path);
  return File(fd, path);
}

Result<File> File::open(const fs::path& path) {
  // Without O_NONBLOCK a named pipe put in our place would hold the thread.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return fail_errno("open", path);
  File file(fd, path);
  struct stat status;
  if (::fstat(fd, &status) != 0) return fail_errno("look at", path);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::internal, fmt::format("{} is not a file", path.string()));
  }
  return file;
}

Result<File> File::open_folder(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_errno("open", path);
  return File(fd, path);
}

Result<File> File::unnamed(const fs::path& folder) {
  int fd = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, kFileMode);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {  // Not every file system has them.
    std::string name = (folder / "spool_XXXXXX").string();
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd < 0) return fail_errno("create a file in", folder);
  return File(fd, folder);
}

Result<void> File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return ok();
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<std::byte> buffer) {
  for (;;) {
    const auto got = ::pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return fail_errno("read", path_);
  }
}

Result<void> File::touch() {
  if (::futimens(fd_, nullptr) != 0) return fail_errno("touch", path_);
  return ok();
}

Result<void> File::sync() {
  if (::fsync(fd_) != 0) return fail_errno("sync", path_);
  return ok();
}

Result<File::Stat> File::stat() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) return fail_errno("look at", path_);
  return Stat{.size_bytes = static_cast<std::uint64_t>(status.st_size),
              .modified = to_wall(status.st_mtim),
              .links = static_cast<std::uint64_t>(status.st_nlink)};
}

Result<void> File::lock_as(int operation) {
  while (::flock(fd_, operation) != 0) {
    if (errno != EINTR) return fail_errno("lock", path_);
  }
  return ok();
}

Result<void> File::lock() { return lock_as(LOCK_EX); }
Result<void> File::lock_shared() { return lock_as(LOCK_SH); }
bool File::try_lock() { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }

Result<void> File::close() {
  if (::close(std::exchange(fd_, -1)) != 0) return fail_errno("close", path_);
  return ok();
}

Result<void> make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), kFolderMode) != 0) {
    if (errno != EEXIST) return fail_errno("create", path);
    MR_TRY_VOID(File::open_folder(path));  // A file of that name is no folder.
  }
  return sync_folder(path.parent_path());
}

Result<void> make_folders(const fs::path& path) {
  fs::path made;
  for (const auto& part : path) {
    made /= part;
    if (part.empty() || made == made.root_path()) continue;
    std::error_code ignored;
    if (fs::is_directory(made, ignored)) continue;
    MR_TRY_VOID(make_folder(made));
  }
  return ok();
}

Result<File> open_or_make_folder(const fs::path& path) {
  auto folder = File::open_folder(path);
  if (folder || folder.error().kind != ErrorKind::not_found) return folder;
  MR_TRY_VOID(make_folder(path));
  return File::open_folder(path);
}

Result<void> sync_folder(const fs::path& path) {
  MR_TRY(auto folder, File::open_folder(path.empty() ? fs::path(".") : path));
  return folder.sync();
}

}  // namespace millrace::blob
