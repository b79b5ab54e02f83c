// NewFile: a file that gets its name when it is whole; until then, and if never, nothing of it is
// seen.
//
// Written beside its name, synced and then renamed. Threading: one thread.
#pragma once

#include "base/result.h"
#include "blob/digest.h"
#include "cluster/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace millrace::app {

class NewFile {
 public:
  static Result<std::unique_ptr<NewFile>> create(const std::filesystem::path& path);
  NewFile() = default;
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Result<void> write(std::span<const std::byte> bytes);
  std::int64_t size_bytes() const { return size_bytes_; }
  std::string finish_digest() { return sha256_.finish().hex(); }
  Result<void> keep();
  // Takes no other's place: false, and nothing done, where `path`, in the same folder, is there.
  Result<bool> keep_as(const std::filesystem::path& path);

 private:
  void sync_folder() const;

  std::filesystem::path path_;
  std::filesystem::path part_;
  cluster::UniqueFd fd_;
  blob::Sha256Stream sha256_;
  std::int64_t size_bytes_ = 0;
  bool kept_ = false;
};

// "cannot write PATH: No space left on device".
Error cannot_write(const std::filesystem::path& path, int code);

}  // namespace millrace::app
