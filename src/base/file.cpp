#include "base/file.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace millrace {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  // Close that reports: on some file systems this is where "no space left" appears.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

std::unexpected<Error> fail_errno(std::string_view what, const std::filesystem::path& path) {
  const int code = errno;
  const auto kind = code == ENOENT || code == ENOTDIR  ? ErrorKind::not_found
                    : code == EACCES || code == EISDIR ? ErrorKind::invalid_argument
                                                       : ErrorKind::unavailable;
  return fail(kind, fmt::format("cannot {} {}: {}", what, path.string(),
                                std::generic_category().message(code)));
}

Result<void> write_all(int fd, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write", path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> write_temporary(const std::filesystem::path& temporary, std::string_view text,
                             mode_t mode) {
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0) return fail_errno("create", temporary);
  MR_TRY_VOID(write_all(fd.get(), text, temporary));
  if (::fchmod(fd.get(), mode) != 0) return fail_errno("set the mode of", temporary);
  if (::fsync(fd.get()) != 0) return fail_errno("sync", temporary);
  if (fd.close() != 0) return fail_errno("close", temporary);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) return fail_errno("read", path);
  std::string text;
  std::array<char, 65536> chunk;
  for (;;) {
    const auto got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read", path);
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} is larger than {} bytes", path.string(), max_bytes));
    }
  }
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   mode_t mode) {
  static std::atomic<unsigned> counter{0};  // Two threads writing the same file must not meet.
  auto temporary = path;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter.fetch_add(1));
  ::unlink(temporary.c_str());  // Left by a process with our number that was killed.

  auto done = write_temporary(temporary, text, mode);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) done = fail_errno("replace", path);
  if (!done) {
    ::unlink(temporary.c_str());
    return done;
  }
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) return fail_errno("sync", folder);
  return {};
}

}  // namespace millrace
