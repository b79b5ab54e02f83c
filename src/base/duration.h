// Durations as people write them in configuration and on the command line.
#pragma once

#include "base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace millrace {

// "500ms", "30s", "5m", "2h", "1d", "1.5s", "1h30m"; "0" needs no unit. Not negative, at most 100
// years.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest exact form that parse_duration reads back: "1h30m", "1500ms", "0s".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace millrace
