// Members of a JSON object by name, for what was made by ourselves: a member that is missing, or of
// another kind, is empty, 0, false or nothing. What comes from outside is held against a schema.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

const json::Value* member(const json::Object& object, std::string_view name);
std::string text_member(const json::Object& object, std::string_view name);
double number_member(const json::Object& object, std::string_view name);
// Rounded, and bounded by the type.
std::int64_t int_member(const json::Object& object, std::string_view name);
bool bool_member(const json::Object& object, std::string_view name);
const json::Object* object_member(const json::Object& object, std::string_view name);
const json::Array* array_member(const json::Object& object, std::string_view name);

}  // namespace millrace
