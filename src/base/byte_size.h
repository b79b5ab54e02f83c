// Sizes in bytes as people write them in configuration and on the command line.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

// "512M", "64KiB", "2GB", "1048576"; K, M, G and T are powers of 1024. Above zero.
Result<std::uint64_t> parse_byte_size(std::string_view text);

// The shortest exact form that parse_byte_size reads back: "512M", "1536K", "1000".
std::string format_byte_size(std::uint64_t bytes);

}  // namespace millrace
