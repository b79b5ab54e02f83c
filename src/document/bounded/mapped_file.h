// MappedFile: a document's bytes, read by the kernel as they are looked at.
//
// Nothing is copied, so a large file costs address space and no memory of its own. The file is
// taken as it is when it is opened and must not be cut while this lives; blobs never change.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace millrace::document {

class MappedFile {
 public:
  // file_too_large when it is. The descriptor stays the caller's.
  static Result<MappedFile> open(int fd, const Limits& limits = {});

  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile() = default;

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace millrace::document
