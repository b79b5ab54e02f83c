// RemoteReader: a blob read from a store in the network as it comes.
//
// When the connection is lost in between, the rest is asked for again, from the byte where it
// broke: the content under a key cannot have changed. Given up after attempts_max such losses
// without a byte between them.
#pragma once

#include "blob/remote.h"
#include "blob/verified_range.h"

#include <memory>
#include <string>

namespace millrace::blob {

// What a store must know to be read from.
class RemoteObjects {
 public:
  virtual ~RemoteObjects() = default;
  // A GET of the blob, without a range: 404 and whatever else means that it is not there become
  // not_found in the dialect.
  virtual Call get(const BlobKey& key) const = 0;
  virtual Task<BlobInfo> stat(BlobKey key) = 0;
};

class RemoteReader final : public BlobReader {
 public:
  RemoteReader(Remote& remote, const RemoteObjects& objects, VerifiedRange range,
               http::ResponseStream stream);

  const BlobInfo& info() const override { return range_.info(); }
  std::uint64_t left_bytes() const override { return range_.left_bytes(); }
  Task<std::size_t> read(std::span<std::byte> buffer) override;

 private:
  Task<std::size_t> read_piece(std::span<std::byte> buffer);
  Task<void> reopen();

  Remote& remote_;
  const RemoteObjects& objects_;
  VerifiedRange range_;
  http::ResponseStream stream_;  // Stands at range_.position().
};

// BlobStore::open of all stores in the network.
Task<std::unique_ptr<BlobReader>> open_remote(Remote& remote, RemoteObjects& objects, BlobKey key,
                                              ByteRange range);

// What the headers of a GET or HEAD say of a blob; internal when they do not say it.
Result<BlobInfo> info_of(const http::Response& head, const BlobKey& key, Clock::Wall now);

}  // namespace millrace::blob
