// SHA-256 and what is made of it: HMAC (RFC 2104), HKDF (RFC 5869), comparing without telling.
//
// Plain functions over bytes; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::identity {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

struct HkdfInput {
  std::string_view secret;
  std::string_view salt;  // May be public and the same for all.
  std::string_view info;  // What the key is for: another purpose, another key.
};
std::string hkdf_sha256(const HkdfInput& input, std::size_t size_bytes);  // At most 255 · 32.

// How long it takes does not depend on where they differ. Lengths are no secret.
bool equal_in_constant_time(std::string_view a, std::string_view b);

std::string_view bytes_of(const Digest& digest);
std::string to_hex(const Digest& digest);  // Lower case.

}  // namespace millrace::identity
