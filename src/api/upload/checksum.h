// Checksums that clients send with what they upload: tus "Upload-Checksum: sha1 <base64>" and
// RFC 9530 "Content-Digest: sha-256=:<base64>:".
//
// They guard against damage on the way, not against anybody. OpenSSL stays behind this header.
#pragma once

#include "base/result.h"
#include "blob/digest.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::api {

enum class ChecksumKind { sha1, sha256, md5 };

inline constexpr std::string_view kChecksumKinds = "sha1,sha256,md5";  // As tus lists them.

struct ExpectedChecksum {
  ChecksumKind kind = ChecksumKind::sha1;
  std::string bytes;
};

// The value of Upload-Checksum. invalid_argument for another algorithm, or a text that is no value
// of it.
Result<ExpectedChecksum> parse_upload_checksum(std::string_view header);

// The sha-256 of a Content-Digest or Repr-Digest; nothing where the header has other algorithms
// only. invalid_argument for a header that is malformed.
Result<std::optional<blob::Digest>> parse_content_digest(std::string_view header);
// "sha-256=:…:", from the hexadecimal form. Empty for a text that is no digest.
std::string content_digest(std::string_view sha256_hex);

// Takes bytes in any number of pieces. One thread at a time.
class ChecksumStream {
 public:
  explicit ChecksumStream(ChecksumKind kind);
  ~ChecksumStream();
  ChecksumStream(ChecksumStream&&) noexcept;
  ChecksumStream& operator=(ChecksumStream&&) noexcept;

  void update(std::span<const std::byte> bytes);
  std::string finish();  // Once; nothing may follow it.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::api
