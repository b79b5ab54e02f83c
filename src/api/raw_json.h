// raw_member, raw_elements: parts of a JSON text as they were written, digit by digit.
//
// For values that only pass through: parsing and printing them again would round numbers that
// PostgreSQL keeps exactly. Nothing is checked here: the text is one that parse_json accepts, so
// that every name is there once.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace millrace::api {

// A member of an object. Points into `object`; nothing when there is no such member.
std::optional<std::string_view> raw_member(std::string_view object, std::string_view name);
// All elements of an array, in order. Point into `array`; none for what is no array.
std::vector<std::string_view> raw_elements(std::string_view array);

}  // namespace millrace::api
