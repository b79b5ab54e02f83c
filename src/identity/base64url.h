// Base64url without padding (RFC 4648 §5, as RFC 7515 uses it), read strictly.
//
// One text per byte string: padding, blanks, the other alphabet and non-zero unused bits are
// refused, so that no token has two spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::identity {

std::string base64url_encode(std::string_view bytes);
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace millrace::identity
