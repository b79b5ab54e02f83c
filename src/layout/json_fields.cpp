#include "layout/json_fields.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace millrace::layout {

std::optional<double> to_number(const json::Value& value) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return std::nullopt;
}

std::optional<std::uint32_t> to_count(const json::Value& value) {
  const auto number = to_number(value);
  if (!number || !(*number >= 0) || *number > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  if (std::floor(*number) != *number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

Result<Fields> Fields::of(const json::Value& value, std::string path) {
  if (!value.is_object()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} must be an object", path.empty() ? "the value" : path));
  }
  return Fields(value.get_object(), std::move(path));
}

std::string Fields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::string Fields::path_of(std::string_view name, std::size_t index) const {
  return fmt::format("{}[{}]", path_of(name), index);
}

std::unexpected<Error> Fields::wrong(std::string_view name, std::string_view rule) const {
  return fail(ErrorKind::invalid_argument, fmt::format("{} {}", path_of(name), rule));
}

const json::Value* Fields::find(std::string_view name) const {
  const auto* value = object_->if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::optional<std::string_view>> Fields::optional_text(std::string_view name,
                                                              std::size_t bytes_max) const {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return wrong(name, "must be a string");
  const std::string_view text = value->get_string();
  if (text.size() > bytes_max) {
    return wrong(name, fmt::format("is longer than {} bytes", bytes_max));
  }
  if (!is_utf8(text)) return wrong(name, "must be UTF-8");
  return text;
}

Result<std::string_view> Fields::text(std::string_view name, std::size_t bytes_max) const {
  MR_TRY(const auto text, optional_text(name, bytes_max));
  if (!text) return wrong(name, "is missing");
  return *text;
}

Result<std::optional<double>> Fields::optional_number(std::string_view name, double low,
                                                      double high) const {
  const auto* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = to_number(*value);
  if (!number || !(*number >= low && *number <= high)) {
    return wrong(name, fmt::format("must be a number between {} and {}", low, high));
  }
  return number;
}

Result<double> Fields::number(std::string_view name, double low, double high) const {
  MR_TRY(const auto number, optional_number(name, low, high));
  if (!number) return wrong(name, "is missing");
  return *number;
}

Result<std::uint32_t> Fields::count(std::string_view name, std::uint32_t high) const {
  const auto* value = find(name);
  if (value == nullptr) return wrong(name, "is missing");
  const auto number = to_count(*value);
  if (!number || *number > high) {
    return wrong(name, fmt::format("must be a whole number between 0 and {}", high));
  }
  return *number;
}

Result<std::uint32_t> Fields::count_or(std::string_view name, std::uint32_t otherwise,
                                       std::uint32_t high) const {
  if (!has(name)) return otherwise;
  return count(name, high);
}

Result<bool> Fields::flag_or(std::string_view name, bool otherwise) const {
  const auto* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) return wrong(name, "must be true or false");
  return value->get_bool();
}

Result<const json::Array*> Fields::optional_array(std::string_view name,
                                                  std::size_t size_max) const {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) return wrong(name, "must be an array");
  const auto& array = value->get_array();
  if (array.size() > size_max) {
    return wrong(name,
                 fmt::format("has {} elements, more than the limit of {}", array.size(), size_max));
  }
  return &array;
}

Result<const json::Array*> Fields::array(std::string_view name, std::size_t size_max) const {
  MR_TRY(const auto* array, optional_array(name, size_max));
  if (array == nullptr) return wrong(name, "is missing");
  return array;
}

Result<Fields> Fields::object(std::string_view name) const {
  const auto* value = find(name);
  if (value == nullptr) return wrong(name, "is missing");
  return of(*value, path_of(name));
}

Result<void> Fields::only(std::initializer_list<std::string_view> names) const {
  for (const auto& member : *object_) {
    const std::string_view key = member.key();
    if (std::ranges::find(names, key) != names.end()) continue;
    // The name is the sender's text, and may be anything: not repeated.
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} has a member that is not part of its form",
                            path_.empty() ? "the value" : path_));
  }
  return ok();
}

}  // namespace millrace::layout
