// Spool: bytes on their way to a store in the network, kept in a file without a name until all of
// them are there.
//
// Why: the name of a blob is known only at its end, and a request that failed must be sent again. A
// spool gives both: the digest before the first byte leaves, and every part of it again, without
// memory that grows. Its file goes with the process, whatever happens: nothing to clean up.
//
// SpoolSpace bounds what all spools of a store hold together.
// Threading: append and read_at block (disk pool); one coroutine at a time.
#pragma once

#include "base/task.h"
#include "blob/file.h"
#include "http/message.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace millrace::blob {

class SpoolSpace {
 public:
  SpoolSpace(std::filesystem::path folder, std::uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  const std::filesystem::path& folder() const { return folder_; }
  bool reserve(std::uint64_t bytes);
  void release(std::uint64_t bytes) { used_bytes_ -= bytes; }
  std::uint64_t used_bytes() const { return used_bytes_; }

 private:
  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
};

class Spool {
 public:
  // `space` outlives it.
  static Result<std::unique_ptr<Spool>> make(SpoolSpace& space);
  ~Spool();

  // throttled when the space is used up.
  Result<void> append(std::span<const std::byte> bytes);
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer);
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  Spool(SpoolSpace& space, File file) : space_(space), file_(std::move(file)) {}

  SpoolSpace& space_;
  File file_;
  std::uint64_t size_bytes_ = 0;
};

// A part of a spool as the body of a request; made anew for every attempt.
class SpoolSource final : public http::BodySource {
 public:
  SpoolSource(Spool& spool, std::uint64_t offset, std::uint64_t size, Executor disk)
      : spool_(spool), position_(offset), end_(offset + size), disk_(std::move(disk)) {}

  Task<std::size_t> read(std::span<std::byte> buffer) override;

 private:
  Spool& spool_;
  std::uint64_t position_;
  std::uint64_t end_;
  Executor disk_;
};

}  // namespace millrace::blob
