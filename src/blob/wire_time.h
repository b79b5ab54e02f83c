// Times as object stores write them. UTC, whole seconds.
#pragma once

#include "base/clock.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::blob {

std::string to_http_date(Clock::Wall time);     // "Sun, 06 Nov 1994 08:49:37 GMT"
std::string to_iso_time(Clock::Wall time);      // "2013-05-24T00:00:00Z"
std::string to_compact_time(Clock::Wall time);  // "20130524T000000Z"
std::string to_compact_date(Clock::Wall time);  // "20130524"

// "2013-05-24T00:00:00.000Z" with any number of decimals, and with +00:00 for Z.
std::optional<Clock::Wall> parse_iso_time(std::string_view text);

}  // namespace millrace::blob
