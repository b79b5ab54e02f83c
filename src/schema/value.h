// What JSON Schema means by equal, integer and multiple, on Boost's values.
//
// Numbers are compared as numbers, whatever holds them: 1 equals 1.0, 2^53 + 1 does not equal
// 2^53. Divisibility is decided in decimal digits, so 0.3 is a multiple of 0.1.
#pragma once

#include "base/json.h"
#include "schema/budget.h"

#include <compare>
#include <cstdint>
#include <string_view>

namespace millrace::schema {

enum class Type : std::uint8_t { null, boolean, object, array, number, string };

Type type_of(const json::Value& value);
std::string_view to_string(Type type);  // "an object", for messages.

// Both must be numbers.
std::partial_ordering compare_numbers(const json::Value& left, const json::Value& right);
bool is_integer(const json::Value& value);
bool is_multiple_of(const json::Value& value, const json::Value& divisor);

// Takes a step per value compared; false when the budget is used up.
bool equal(const json::Value& left, const json::Value& right, Budget& budget);
// Equal values have equal hashes.
std::uint64_t hash(const json::Value& value, Budget& budget);

// As JSON, cut to a length that fits into a message. For values of schemas, never of instances:
// messages are logged, and instances hold what nobody may read there.
std::string excerpt(const json::Value& value);
// A name in quotes, cut likewise.
std::string quoted_name(std::string_view name);

}  // namespace millrace::schema
