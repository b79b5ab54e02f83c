// Base64 with padding (RFC 4648 §4), read strictly: one text per byte string, as base64url.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::identity {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace millrace::identity
