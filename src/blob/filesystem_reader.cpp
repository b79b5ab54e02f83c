#include "blob/filesystem_reader.h"

#include "blob/disk.h"

#include <algorithm>

namespace millrace::blob {

Task<std::size_t> FilesystemReader::read(std::span<std::byte> buffer) {
  if (range_.left_bytes() == 0) {
    MR_CO_TRY_VOID(range_.ended());
    co_return 0;
  }
  co_return co_await on_disk(disk_, [this, buffer] { return read_now(buffer); });
}

Result<std::size_t> FilesystemReader::read_now(std::span<std::byte> buffer) {
  const auto room = std::min<std::uint64_t>(buffer.size(), range_.left_bytes());
  MR_TRY(const std::size_t size, file_.read_at(range_.position(), buffer.first(room)));
  if (size == 0) return fail(range_.too_short());
  MR_TRY_VOID(range_.take(buffer.first(size)));
  return size;
}

}  // namespace millrace::blob
