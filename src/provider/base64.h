// base64_encode: RFC 4648 with padding, as images go into JSON.
#pragma once

#include <string>
#include <string_view>

namespace millrace::provider {

std::string base64_encode(std::string_view bytes);

// How long that is, without doing it.
constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

}  // namespace millrace::provider
