// Base64 (RFC 4648 with padding), as images and vectors stand in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

std::string base64_encode(std::string_view bytes);
// Nothing for letters of no base64, and for a length that is none.
std::optional<std::string> base64_decode(std::string_view text);

// How long that is, without doing it.
constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

}  // namespace millrace::provider
