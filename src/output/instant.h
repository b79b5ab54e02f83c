// Instants as records have them: UTC with milliseconds, "2026-11-16T12:00:00.000Z".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::output {

using Instant = std::chrono::sys_time<std::chrono::milliseconds>;

std::string to_text(Instant time);
// Only what to_text writes, of the years 1800 to 9999; nothing for anything else.
std::optional<Instant> parse_instant(std::string_view text);

}  // namespace millrace::output
