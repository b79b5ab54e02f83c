// File: an open file or folder. All calls block: for the disk pool only.
#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

namespace millrace::blob {

class File {
 public:
  File() = default;
  ~File();
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept;

  static Result<File> create(
      const std::filesystem::path& path);                       // Must not exist yet; for writing.
  static Result<File> open(const std::filesystem::path& path);  // For reading; a regular file.
  static Result<File> open_folder(const std::filesystem::path& path);
  // Without a name, in `folder`: gone when closed, also by the death of the process.
  static Result<File> unnamed(const std::filesystem::path& folder);

  explicit operator bool() const { return fd_ >= 0; }

  Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer);  // 0 at the end.
  Result<void> touch();                                                            // Modified now.
  Result<void> sync();

  struct Stat {
    std::uint64_t size_bytes = 0;
    Clock::Wall modified;
    std::uint64_t links = 0;  // 0: it has lost its name.
  };
  Result<Stat> stat() const;

  // Held until closed, by this open file and nobody else, in whatever process.
  Result<void> lock();
  Result<void> lock_shared();
  bool try_lock();

  Result<void> close();  // Reports what the destructor cannot.

 private:
  explicit File(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}
  Result<void> lock_as(int operation);

  int fd_ = -1;
  std::filesystem::path path_;  // For messages.
};

// errno as an Error: not_found, unavailable (no space, I/O error) or internal (no permission).
[[nodiscard]] std::unexpected<Error> fail_errno(std::string_view verb,
                                                const std::filesystem::path& path);

// Makes a folder that may exist already, for this user alone. It is there after a crash too, also
// when another process has made it just now and not yet synced.
Result<void> make_folder(const std::filesystem::path& path);
Result<void> make_folders(const std::filesystem::path& path);  // And all above it.
Result<File> open_or_make_folder(const std::filesystem::path& path);

Result<void> sync_folder(const std::filesystem::path& path);

}  // namespace millrace::blob
