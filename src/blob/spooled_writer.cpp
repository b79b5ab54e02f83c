#include "blob/spooled_writer.h"

#include "blob/disk.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <vector>

namespace millrace::blob {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;

Result<Part> digest_now(Spool* spool, std::uint64_t offset, std::uint64_t size_bytes,
                        PartDigest digest) {
  Sha256Stream sha256;
  Md5Stream md5;
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, size_bytes));
  for (std::uint64_t done = 0; done < size_bytes;) {
    const auto room = std::min<std::uint64_t>(piece.size(), size_bytes - done);
    MR_TRY(const std::size_t size, spool->read_at(offset + done, std::span(piece).first(room)));
    if (size == 0) return fail(ErrorKind::internal, "the spool is shorter than what was written");
    const auto bytes = std::span(piece).first(size);
    if (digest == PartDigest::sha256) sha256.update(bytes);
    if (digest == PartDigest::md5) md5.update(bytes);
    done += size;
  }
  Part part{.spool = spool, .offset = offset, .size_bytes = size_bytes};
  if (digest == PartDigest::sha256) part.sha256_hex = sha256.finish().hex();
  if (digest == PartDigest::md5) part.md5_base64 = to_base64(md5.finish());
  return part;
}

}  // namespace

SpooledWriter::SpooledWriter(Uploader& uploader, std::unique_ptr<Spool> spool, PutOptions options,
                             Executor disk)
    : uploader_(uploader),
      spool_(std::move(spool)),
      content_(std::move(options)),
      disk_(std::move(disk)) {}

// Freeing the blocks of a large file takes a while.
SpooledWriter::~SpooledWriter() {
  if (spool_) boost::asio::post(disk_, [spool = std::move(spool_)] {});
}

Task<void> SpooledWriter::write(std::span<const std::byte> bytes) {
  MR_CO_TRY_VOID(state_.may_go_on());
  co_return state_.note(co_await on_disk(disk_, [this, bytes] { return write_now(bytes); }));
}

Result<void> SpooledWriter::write_now(std::span<const std::byte> bytes) {
  MR_TRY_VOID(content_.take(bytes));
  return spool_->append(bytes);
}

Task<BlobInfo> SpooledWriter::finish() {
  MR_CO_TRY_VOID(state_.may_go_on());
  state_.end();
  MR_CO_TRY(const BlobKey key, content_.finish());
  Upload upload{.key = key, .content_type = content_.options().content_type, .spool = spool_.get()};
  auto stored = co_await uploader_.upload(std::move(upload));
  MR_CO_TRY_VOID(co_await abort());  // The spool is of no more use.
  co_return stored;
}

Task<void> SpooledWriter::abort() {
  state_.end();
  if (!spool_) co_return ok();
  co_return co_await on_disk(disk_, [this]() -> Result<void> {
    spool_.reset();
    return ok();
  });
}

Task<std::unique_ptr<BlobWriter>> spooled_writer(Uploader& uploader, SpoolSpace& space,
                                                 PutOptions options, Executor disk) {
  MR_CO_TRY_VOID(check_options(options));
  MR_CO_TRY(auto spool, co_await on_disk(disk, [&space] { return Spool::make(space); }));
  co_return std::make_unique<SpooledWriter>(uploader, std::move(spool), std::move(options),
                                            std::move(disk));
}

Task<Part> digested_part(Spool* spool, std::uint64_t offset, std::uint64_t size_bytes,
                         PartDigest digest, Executor disk) {
  co_return co_await on_disk(disk, [spool, offset, size_bytes, digest] {
    return digest_now(spool, offset, size_bytes, digest);
  });
}

}  // namespace millrace::blob
