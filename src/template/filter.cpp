#include "template/filter.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace millrace::templates {
namespace {

const json::Value kNull;

std::array<std::span<const Filter>, 4> groups() {
  return {text_filters(), number_filters(), list_filters(), markup_filters()};
}

}  // namespace

Value::Value() : value_(&kNull) {}

Value Value::own(json::Value value) {
  Value out;
  out.held_ = std::make_shared<const json::Value>(std::move(value));
  out.value_ = out.held_.get();
  return out;
}

Value Value::text(std::string_view text) { return own(json::Value(text)); }

Value Value::markup(std::string_view html) {
  auto out = text(html);
  out.markup_ = true;
  return out;
}

Value Value::part(std::string_view name) const {
  const json::Value* found = nullptr;
  if (const auto* object = value_->if_object()) {
    found = object->if_contains(name);
  } else if (const auto* array = value_->if_array()) {
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index = code == std::errc() && end == name.data() + name.size();
    if (is_index && index < array->size()) found = &(*array)[index];
  }
  if (found == nullptr) return {};
  auto out = *this;
  out.value_ = found;
  out.markup_ = false;
  return out;
}

bool is_there(const json::Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return false;
    case boost::json::kind::bool_:
      return value.get_bool();
    case boost::json::kind::string:
      return !value.get_string().empty();
    case boost::json::kind::array:
      return !value.get_array().empty();
    case boost::json::kind::object:
      return !value.get_object().empty();
    default:
      return true;
  }
}

Result<std::string> printed(const json::Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return std::string();
    case boost::json::kind::bool_:
      return std::string(value.get_bool() ? "true" : "false");
    case boost::json::kind::string:
      return std::string(value.get_string());
    case boost::json::kind::int64:
      return std::to_string(value.get_int64());
    case boost::json::kind::uint64:
      return std::to_string(value.get_uint64());
    case boost::json::kind::double_:
      return json_number(value.get_double());
    case boost::json::kind::array:
      return fail(ErrorKind::invalid_argument, "must be a text or a number, but is a list");
    case boost::json::kind::object:
      return fail(ErrorKind::invalid_argument, "must be a text or a number, but is an object");
  }
  return std::string();
}

Result<std::string> FilterCallInput::text(std::size_t index) const {
  auto out = printed(*arguments[index]);
  if (!out) return fail_with_context(fmt::format("argument {}", index + 1), out.error());
  return out;
}

Result<std::int64_t> FilterCallInput::whole(std::size_t index, std::int64_t min,
                                            std::int64_t max) const {
  const auto* number = arguments[index]->if_int64();
  if (number == nullptr || *number < min || *number > max) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("argument {} must be a whole number from {} to {}", index + 1, min, max));
  }
  return *number;
}

const Filter* find_filter(std::string_view name) {
  for (const auto group : groups()) {
    const auto found = std::ranges::find(group, name, &Filter::name);
    if (found != group.end()) return &*found;
  }
  return nullptr;
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const auto group : groups()) {
    for (const auto& filter : group) names.emplace_back(filter.name);
  }
  return names;
}

}  // namespace millrace::templates
