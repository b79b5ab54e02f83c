// VerifiedRange: where a reader stands in its blob, and whether what it read is what was written.
//
// take() is told every piece before it is handed out. Of a blob read from its first to its last
// byte the last piece passes only if all of them together have the digest of the key.
#pragma once

#include "blob/blob_store.h"
#include "blob/digest.h"

#include <cstdint>
#include <optional>
#include <span>

namespace millrace::blob {

class VerifiedRange {
 public:
  // invalid_argument when the range begins behind the end.
  static Result<VerifiedRange> make(BlobInfo info, const ByteRange& range);

  const BlobInfo& info() const { return info_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t left_bytes() const { return end_ - position_; }

  Result<void> take(std::span<const std::byte> bytes);  // At most left_bytes().
  // For readers at the end: whether it was reached in good order.
  Result<void> ended() const;
  Error too_short() const;  // The store has fewer bytes than it said.

 private:
  VerifiedRange(BlobInfo info, std::uint64_t position, std::uint64_t end);
  Error damaged() const;

  BlobInfo info_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::optional<Sha256Stream> sha256_;  // Of a range that is the whole blob.
  bool damaged_ = false;
};

}  // namespace millrace::blob
