// Reading answers of services: members by name, of whatever type they turn out to be.
//
// Services add members and change types without notice; what is missing or of another type is
// simply not there. What the caller needs and does not find, the caller refuses.
#pragma once

#include "base/json.h"
#include "provider/usage.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

// Nothing when one of the names on the way is not there.
const json::Value* at(const json::Value& value, std::initializer_list<std::string_view> path);
// As `at`; but null, and a text, list or object without anything in it, are not there either: many
// services send every member and leave empty what does not apply.
const json::Value* told_at(const json::Value& value, std::initializer_list<std::string_view> path);
// An error; one that says nothing (says_nothing) is not there.
const json::Value* error_at(const json::Value& value, std::initializer_list<std::string_view> path);
// A text; of a number its figures. Empty when it is neither.
std::string text_at(const json::Value& value, std::initializer_list<std::string_view> path);
// Tokens: whole, not negative, not absurd; else nothing.
std::optional<std::uint64_t> count_at(const json::Value& value,
                                      std::initializer_list<std::string_view> path);
const json::Array* array_at(const json::Value& value, std::initializer_list<std::string_view> path);

}  // namespace millrace::provider
