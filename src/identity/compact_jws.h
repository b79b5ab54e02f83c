// CompactJws: a signed token taken apart, nothing of it trusted yet.
//
// Flow: "header.payload.signature" in, its decoded parts out; TokenVerifier then chooses the key,
// checks the signature over signing_input, and only after that reads the payload. What the header
// says about keys (jwk, jku, x5c, x5u) is never looked at; `crit`, `b64`, nested and compressed
// tokens are refused, because what we do not understand may change the meaning.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::identity {

enum class Algorithm { hs256, rs256, es256 };

std::string_view to_string(Algorithm algorithm);                  // "HS256"
std::optional<Algorithm> parse_algorithm(std::string_view name);  // Exact; "none" is none of them.

inline constexpr std::size_t kTokenMaxBytes = 16 * 1024;
inline constexpr std::size_t kTokenHeaderMaxBytes = 2 * 1024;
inline constexpr std::size_t kTokenSignatureMaxBytes = 1024;  // RSA with 8192 bits.
inline constexpr std::size_t kKeyIdMaxBytes = 256;

struct CompactJws {
  Algorithm algorithm = Algorithm::hs256;  // What the token says; a key must say the same.
  std::optional<std::string> key_id;
  std::string signing_input;  // "header.payload" as it came.
  std::string payload;        // Decoded bytes.
  std::string signature;      // Decoded bytes.
};

// Errors are Refusals: malformed or unsupported.
Result<CompactJws> parse_compact_jws(std::string_view token);

}  // namespace millrace::identity
