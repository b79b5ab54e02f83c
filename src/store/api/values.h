// Values between PostgreSQL's text and C++ that pg does not know: bytes and instants.
#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

// "\x0aff…", as bytea is written and read.
std::string bytea(std::span<const std::uint8_t> bytes);
std::string bytea(std::string_view bytes);
// internal for a text that is none.
Result<std::vector<std::uint8_t>> read_bytea(std::string_view text);
// The same as characters.
Result<std::string> read_bytea_text(std::string_view text);
// "0aff…"; nothing for a text that is no such.
std::string hex(std::span<const std::uint8_t> bytes);
std::optional<std::vector<std::uint8_t>> read_hex(std::string_view digits);
// A literal of bytea[] of such values.
std::string bytea_array(std::span<const std::vector<std::uint8_t>> values);

// Whole microseconds since 1970, as (extract(epoch from t) * 1000000)::bigint gives them. What the
// clock does not reach (years before 1678 and after 2261) is its first or last moment.
Clock::Wall wall_from_micros(std::int64_t micros);
// "2026-01-31T09:30:00.000000Z".
std::string iso_time(Clock::Wall time);

}  // namespace millrace::store
