#include "base/json_members.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace millrace {

const json::Value* member(const json::Object& object, std::string_view name) {
  return object.if_contains(name);
}

std::string text_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

double number_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

std::int64_t int_member(const json::Object& object, std::string_view name) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) {
    return static_cast<std::int64_t>(
        std::min(value->get_uint64(), static_cast<std::uint64_t>(kMost)));
  }
  if (!value->is_double()) return 0;
  const double number = std::round(value->get_double());
  if (number >= 0x1p63) return kMost;
  return number >= -0x1p63 ? static_cast<std::int64_t>(number)
                           : std::numeric_limits<std::int64_t>::min();
}

bool bool_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::Object* object_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

const json::Array* array_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_array();
}

}  // namespace millrace
