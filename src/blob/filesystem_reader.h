// FilesystemReader: the bytes of one file, checked against its name when it is read as a whole.
#pragma once

#include "blob/file.h"
#include "blob/verified_range.h"

#include <memory>

namespace millrace::blob {

class FilesystemReader final : public BlobReader {
 public:
  FilesystemReader(File file, VerifiedRange range, Executor disk)
      : file_(std::move(file)), range_(std::move(range)), disk_(std::move(disk)) {}

  const BlobInfo& info() const override { return range_.info(); }
  std::uint64_t left_bytes() const override { return range_.left_bytes(); }
  Task<std::size_t> read(std::span<std::byte> buffer) override;

 private:
  Result<std::size_t> read_now(std::span<std::byte> buffer);

  File file_;
  VerifiedRange range_;
  Executor disk_;
};

}  // namespace millrace::blob
