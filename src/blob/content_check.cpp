#include "blob/content_check.h"

#include <fmt/format.h>

namespace millrace::blob {

Result<void> ContentCheck::take(std::span<const std::byte> bytes) {
  const auto limit = options_.size_bytes.value_or(options_.size_max_bytes);
  if (bytes.size() > limit - size_bytes_) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the content has more than the {} bytes that {}", limit,
                            options_.size_bytes ? "were announced" : "are allowed"));
  }
  sha256_.update(bytes);
  size_bytes_ += bytes.size();
  return ok();
}

Result<BlobKey> ContentCheck::finish() {
  if (options_.size_bytes && *options_.size_bytes != size_bytes_) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the content has {} bytes, {} were announced", size_bytes_,
                            *options_.size_bytes));
  }
  const BlobKey key{sha256_.finish()};
  if (options_.sha256 && *options_.sha256 != key.sha256) {
    return fail(ErrorKind::invalid_argument,
                "the content does not have the SHA-256 digest that was announced");
  }
  return key;
}

Result<void> WriterState::may_go_on() const {
  if (!ended_) return ok();
  return fail(ErrorKind::internal, "the writer has ended: only abort() is left");
}

}  // namespace millrace::blob
