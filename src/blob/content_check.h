// ContentCheck: what a writer learns of its bytes while they pass: size, digest, and whether they
// keep to what was announced.
#pragma once

#include "blob/blob_store.h"
#include "blob/digest.h"

#include <cstdint>
#include <span>

namespace millrace::blob {

class ContentCheck {
 public:
  explicit ContentCheck(PutOptions options) : options_(std::move(options)) {}

  // Before the bytes are written: invalid_argument when they are too many.
  Result<void> take(std::span<const std::byte> bytes);
  // Once, after the last: the key, or invalid_argument when size or digest are not as announced.
  Result<BlobKey> finish();

  std::uint64_t size_bytes() const { return size_bytes_; }
  const PutOptions& options() const { return options_; }

 private:
  PutOptions options_;
  Sha256Stream sha256_;
  std::uint64_t size_bytes_ = 0;
};

// Where a writer stands: an error or the end allow nothing but abort().
class WriterState {
 public:
  Result<void> may_go_on() const;
  // Keeps in mind that something failed, and passes it on.
  template <class T>
  Result<T> note(Result<T> result) {
    if (!result) ended_ = true;
    return result;
  }
  void end() { ended_ = true; }

 private:
  bool ended_ = false;
};

}  // namespace millrace::blob
