// Digests of bytes, whole or as they stream by, and their text forms.
//
// Hashing is work for the disk pool, not for an I/O thread. OpenSSL stays behind this header.
#pragma once

#include "base/result.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace millrace::blob {

// A SHA-256 value.
struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  // 64 hexadecimal digits in lower case, nothing else.
  static Result<Digest> parse(std::string_view hex);
  std::string hex() const;
  std::string base64() const;

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// MD5 is no proof of anything; two stores check it against damage on the way.
using Md5 = std::array<std::uint8_t, 16>;

// Takes bytes in any number of pieces. One thread at a time.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;

  void update(std::span<const std::byte> bytes);
  Digest finish();  // Once; nothing may follow it.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Md5Stream {
 public:
  Md5Stream();
  ~Md5Stream();
  Md5Stream(Md5Stream&&) noexcept;
  Md5Stream& operator=(Md5Stream&&) noexcept;

  void update(std::span<const std::byte> bytes);
  Md5 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);

std::string_view text_of(const Digest& digest);  // Its 32 bytes, as the key of the next HMAC.

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_base64(std::span<const std::uint8_t> bytes);
std::string to_base64(std::string_view text);
Result<std::string> from_base64(std::string_view text);  // With padding, no blanks.

}  // namespace millrace::blob
