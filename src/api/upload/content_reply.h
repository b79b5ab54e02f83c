// send_content: answers a request with bytes of the blob store: whole or a range, or 304 where the
// client has them.
//
// Content of users is nothing that this server vouches for: it is sent with the type found in it,
// never guessed at, and in a sandbox. The entity tag is the digest of the content. A blob that
// turns out to be damaged ends the connection before its last byte, so that no client takes it for
// whole.
#pragma once

#include "api/call.h"
#include "blob/blob_store.h"
#include "store/api/files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

struct SentContent {
  std::string store_key;
  std::string sha256;  // Hexadecimal.
  std::int64_t size_bytes = 0;
  std::string content_type;
  std::string file_name = {};  // Makes it an attachment of that name.
  std::string cache_control = "private, no-cache";
};

SentContent sent_content(const store::StoredObject& object);

// Also for HEAD. The Reply says that it was sent, or is a 304, 412 or 416.
Task<Reply> send_content(Call& call, blob::BlobStore& blobs, SentContent content);

// A header Range against content of `size_bytes`.
struct RangeAnswer {
  enum class Kind {
    whole,  // No range, or one that is not understood and so does not count.
    part,
    none,  // Nothing of it exists: 416.
  };
  Kind kind = Kind::whole;
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // Inclusive.
};
RangeAnswer read_range(std::string_view header, std::uint64_t size_bytes);

}  // namespace millrace::api
