#include "blob/spool.h"

#include "blob/disk.h"

#include <algorithm>

namespace millrace::blob {

bool SpoolSpace::reserve(std::uint64_t bytes) {
  if (used_bytes_.fetch_add(bytes) + bytes <= max_bytes_) return true;
  used_bytes_ -= bytes;
  return false;
}

Result<std::unique_ptr<Spool>> Spool::make(SpoolSpace& space) {
  MR_TRY(auto file, File::unnamed(space.folder()));
  return std::unique_ptr<Spool>(new Spool(space, std::move(file)));
}

Spool::~Spool() { space_.release(size_bytes_); }

Result<void> Spool::append(std::span<const std::byte> bytes) {
  if (!space_.reserve(bytes.size())) {
    return fail(ErrorKind::throttled,
                "too much is being uploaded at once: the spool folder has reached its limit");
  }
  const auto offset = size_bytes_;
  size_bytes_ += bytes.size();
  return file_.write_at(offset, bytes);
}

Result<std::size_t> Spool::read_at(std::uint64_t offset, std::span<std::byte> buffer) {
  return file_.read_at(offset, buffer);
}

Task<std::size_t> SpoolSource::read(std::span<std::byte> buffer) {
  const auto room = std::min<std::uint64_t>(buffer.size(), end_ - position_);
  if (room == 0) co_return 0;
  MR_CO_TRY(const std::size_t size, co_await on_disk(disk_, [this, buffer, room] {
              return spool_.read_at(position_, buffer.first(room));
            }));
  position_ += size;
  co_return size;
}

}  // namespace millrace::blob
