#include "api/parameters.h"

#include "base/assert.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::string_view kTheValue = "the value";

FieldError error_of(const Parameter& parameter, std::string_view rule, std::string detail) {
  return {.in = parameter.in,
          .name = parameter.name,
          .rule = std::string(rule),
          .detail = std::move(detail)};
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The text as the type of its schema; as text where it is none of that type, so that the schema
// says what is wrong with it.
json::Value read_as(std::string_view type, std::string_view text) {
  if (type == "integer") {
    if (const auto value = number<std::int64_t>(text)) return *value;
  } else if (type == "number") {
    if (const auto value = number<double>(text)) return *value;
  } else if (type == "boolean") {
    if (text == "true") return true;
    if (text == "false") return false;
  } else if (type == "array") {
    json::Array list;
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      list.emplace_back(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return list;
  }
  return json::Value(text);
}

}  // namespace

void Parameters::take(const CheckedParameter& checked, std::string text,
                      std::vector<FieldError>& errors) {
  const auto& parameter = checked.parameter;
  if (find(parameter.name) != nullptr) {
    errors.push_back(error_of(parameter, "once", parameter.name + " is given twice"));
    return;
  }
  // PostgreSQL cannot keep it in a text.
  if (text.contains('\0')) {
    errors.push_back(error_of(parameter, "nul", parameter.name + " must not hold U+0000"));
    return;
  }
  auto value = read_as(checked.type, text);
  for (const auto& violation : checked.schema.validate(value)) {
    // "the value must be 1 or more" is said of the parameter; "/0 must be …" of an element of it.
    std::string_view said = violation.message;
    if (said.starts_with(kTheValue)) said.remove_prefix(kTheValue.size());
    errors.push_back(
        error_of(parameter, violation.keyword, fmt::format("{}{}", parameter.name, said)));
  }
  values_.push_back({.name = parameter.name, .text = std::move(text), .value = std::move(value)});
}

std::expected<Parameters, std::vector<FieldError>> Parameters::read(
    const CheckedOperation& checked, const http::ServerRequest& request) {
  Parameters out;
  std::vector<FieldError> errors;
  const auto find_checked = [&](In in, std::string_view name) -> const CheckedParameter* {
    for (const auto& candidate : checked.parameters) {
      if (candidate.parameter.in == in && candidate.parameter.name == name) return &candidate;
    }
    return nullptr;
  };
  for (const auto& parameter : checked.parameters) {
    if (parameter.parameter.in == In::path) {
      out.take(parameter, std::string(request.parameter(parameter.parameter.name)), errors);
    } else if (parameter.parameter.in == In::header) {
      const auto value = request.header(parameter.parameter.name);
      if (value) out.take(parameter, std::string(*value), errors);
    }
  }
  if (!request.query.empty()) {
    auto query = request.query_parameters();
    if (!query) {
      errors.push_back({.name = "query", .rule = "encoding", .detail = query.error().message});
      return std::unexpected(std::move(errors));
    }
    const bool takes_ticket = checked.operation.access.kind() == Access::Kind::stream;
    for (auto& [name, value] : *query) {
      if (takes_ticket && name == kTicketParameter) continue;
      if (const auto* known = find_checked(In::query, name)) {
        out.take(*known, std::move(value), errors);
      } else if (!checked.operation.free_query) {
        errors.push_back({.name = name, .rule = "known", .detail = "there is no such parameter"});
      }
    }
  }
  for (const auto& parameter : checked.parameters) {
    if (parameter.parameter.required && out.find(parameter.parameter.name) == nullptr) {
      errors.push_back(
          error_of(parameter.parameter, "required", parameter.parameter.name + " is missing"));
    }
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return out;
}

const json::Value* Parameters::find(std::string_view name) const {
  for (const auto& value : values_) {
    if (value.name == name) return &value.value;
  }
  return nullptr;
}

std::optional<std::string> Parameters::text(std::string_view name) const {
  for (const auto& value : values_) {
    if (value.name == name) return value.text;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Parameters::integer(std::string_view name) const {
  const auto* value = find(name);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return value->get_int64();
}

bool Parameters::boolean(std::string_view name, bool otherwise) const {
  const auto* value = find(name);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

std::vector<std::string> Parameters::list(std::string_view name) const {
  std::vector<std::string> out;
  const auto* value = find(name);
  if (value == nullptr || !value->is_array()) return out;
  for (const auto& item : value->get_array()) out.emplace_back(item.as_string());
  return out;
}

const std::string& Parameters::required(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Value::name);
  MR_ASSERT(found != values_.end());
  return found->text;
}

Uuid Parameters::uuid(std::string_view name) const {
  const auto parsed = Uuid::parse(required(name));
  MR_ASSERT(parsed.has_value());
  return *parsed;
}

}  // namespace millrace::api
