// Times as services write them: one parser for each form, all with the same rules.
//
// A wait is at most an hour, however long a service asks for. What is malformed, negative, or more
// than a year says nothing: no value. Waits are rounded up, so that none is shorter than asked for.
// HTTP dates and Retry-After are in http/retry_after.h.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace millrace::provider {

using Wall = std::chrono::system_clock::time_point;
using Instant = std::chrono::sys_time<std::chrono::milliseconds>;

inline constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(1);

// "12ms", "1s", "6m0s", "1h2m3.5s", "250µs", "0s": Go's durations. Protobuf's ("3.5s") are among
// them.
std::optional<std::chrono::milliseconds> parse_go_duration(std::string_view text);

// "20", "1.5"
std::optional<std::chrono::milliseconds> parse_seconds(std::string_view text);

// "1500", "12.5"
std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text);

// "2026-08-01T12:00:00Z", with decimals and offsets, T and Z in either case. Years 1970 to 9999.
std::optional<Instant> parse_rfc3339(std::string_view text);

// From now until then. Nothing for the past and for more than a year ahead.
std::optional<std::chrono::milliseconds> wait_until(Instant instant, Wall now);

}  // namespace millrace::provider
