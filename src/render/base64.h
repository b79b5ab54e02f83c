// decode_base64: what DevTools sends bytes as (RFC 4648, padded). Nothing: it is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::render {

std::optional<std::string> decode_base64(std::string_view text);

}  // namespace millrace::render
