// parse_retry_after: how long a server asks us to wait.
//
// Takes the value of a Retry-After header: seconds ("120", also "1.5" as some services send) or one
// of the three HTTP dates of RFC 9110. The result is a minimum to be combined with our own backoff.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace millrace::http {

inline constexpr std::chrono::milliseconds kRetryAfterMax = std::chrono::hours(1);

// At most kRetryAfterMax, however long the server asks for. Nothing for a value that is malformed,
// negative, in the past, or absurd (more than a year): such a server says nothing we can use.
std::optional<std::chrono::milliseconds> parse_retry_after(
    std::string_view value, std::chrono::system_clock::time_point now);

// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994".
// `now` resolves the second form's two-digit year.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text,
                                                        std::chrono::system_clock::time_point now);

}  // namespace millrace::http
