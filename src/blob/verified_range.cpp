#include "blob/verified_range.h"

#include "base/assert.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::blob {

VerifiedRange::VerifiedRange(BlobInfo info, std::uint64_t position, std::uint64_t end)
    : info_(std::move(info)), position_(position), end_(end) {
  if (position == 0 && end == info_.size_bytes) sha256_.emplace();
  // Nothing will be read of an empty blob, so its name is looked at here.
  if (info_.size_bytes == 0) damaged_ = sha256_->finish() != info_.key.sha256;
}

Result<VerifiedRange> VerifiedRange::make(BlobInfo info, const ByteRange& range) {
  const auto size = info.size_bytes;
  if (range.offset > size) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the range begins at {}, the blob has {} bytes", range.offset, size));
  }
  const auto length = std::min(range.length.value_or(size), size - range.offset);
  return VerifiedRange(std::move(info), range.offset, range.offset + length);
}

Result<void> VerifiedRange::take(std::span<const std::byte> bytes) {
  MR_ASSERT(bytes.size() <= left_bytes());
  if (damaged_) return fail(damaged());
  if (sha256_) sha256_->update(bytes);
  position_ += bytes.size();
  if (position_ < end_ || !sha256_) return ok();
  damaged_ = sha256_->finish() != info_.key.sha256;
  return ended();
}

Result<void> VerifiedRange::ended() const {
  if (damaged_) return fail(damaged());
  return ok();
}

Error VerifiedRange::damaged() const {
  return {
      .kind = ErrorKind::internal,
      .message = fmt::format("{} is damaged: its content has another digest", info_.key.text())};
}

Error VerifiedRange::too_short() const {
  return {.kind = ErrorKind::internal,
          .message = fmt::format("{} is damaged: it ends at byte {} of {}", info_.key.text(),
                                 position_, info_.size_bytes)};
}

}  // namespace millrace::blob
