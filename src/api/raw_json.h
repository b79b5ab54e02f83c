// raw_member: a member of a JSON object as it was written, digit by digit.
//
// For values that only pass through: parsing and printing them again would round numbers that
// PostgreSQL keeps exactly. Nothing is checked here: the text is one that parse_json accepts.
#pragma once

#include <optional>
#include <string_view>

namespace millrace::api {

// Points into `object`. Nothing when there is no such member, or when its name is written with
// escapes: then the parsed value has to do.
std::optional<std::string_view> raw_member(std::string_view object, std::string_view name);

}  // namespace millrace::api
