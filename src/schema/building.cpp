#include "schema/building.h"

#include "schema/uri.h"

#include <fmt/format.h>

#include <limits>

namespace millrace::schema {

Building::Building(NodeSource& source, Node& node, const Target& target, bool assert_formats)
    : source_(source),
      node_(node),
      target_(target),
      schema_(target.value->get_object()),
      assert_formats_(assert_formats) {}

std::string Building::path_of(std::string_view keyword) const {
  auto path = node_.path;
  append_token(path, keyword);
  return path;
}

std::unexpected<Error> Building::wrong(std::string_view keyword, std::string_view rule) const {
  return fail(ErrorKind::invalid_argument, fmt::format("{} {}", path_of(keyword), rule));
}

Result<const Node*> Building::child(std::string_view keyword, const json::Value& value) {
  if (!value.is_object() && !value.is_bool()) return wrong(keyword, "must be a schema");
  return source_.node(source_.child(target_, value, path_of(keyword)), keyword);
}

Result<const Node*> Building::child(std::string_view keyword, std::string_view token,
                                    const json::Value& value) {
  auto path = path_of(keyword);
  append_token(path, token);
  if (!value.is_object() && !value.is_bool()) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} must be a schema", path));
  }
  return source_.node(source_.child(target_, value, std::move(path)), keyword);
}

Result<std::vector<const Node*>> Building::children(std::string_view keyword,
                                                    const json::Value& value) {
  const auto* array = value.if_array();
  if (array == nullptr) return wrong(keyword, "must be an array of schemas");
  std::vector<const Node*> nodes;
  for (std::size_t i = 0; i < array->size(); ++i) {
    MR_TRY(const auto* node, child(keyword, fmt::format("{}", i), (*array)[i]));
    nodes.push_back(node);
  }
  return nodes;
}

Result<Target> Building::resolve(std::string_view keyword, std::string_view reference) {
  auto target = source_.resolve(target_, reference);
  if (target) return target;
  return fail_with_context(
      fmt::format("{} {} leads nowhere", path_of(keyword), quoted_name(reference)),
      std::move(target).error());
}

Result<Regex> Building::pattern(std::string_view keyword, std::string_view text) {
  auto regex = source_.pattern(text);
  if (regex) return regex;
  return fail_with_context(
      fmt::format("{} {} is not a pattern of ECMA-262", path_of(keyword), quoted_name(text)),
      std::move(regex).error());
}

Result<std::optional<std::size_t>> Building::count(std::string_view keyword) {
  const auto* value = find(keyword);
  if (value == nullptr) return std::nullopt;
  if (!is_integer(*value) || compare_numbers(*value, json::Value(0)) < 0) {
    return wrong(keyword, "must be a whole number, 0 or more");
  }
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (compare_numbers(*value, json::Value(kMax)) >= 0) return static_cast<std::size_t>(kMax);
  if (value->is_double()) return static_cast<std::size_t>(value->get_double());
  return value->is_uint64() ? static_cast<std::size_t>(value->get_uint64())
                            : static_cast<std::size_t>(value->get_int64());
}

Result<std::vector<std::string>> Building::names(std::string_view keyword,
                                                 const json::Value& value) {
  const auto* array = value.if_array();
  if (array == nullptr) return wrong(keyword, "must be an array of names");
  std::vector<std::string> names;
  for (const auto& item : *array) {
    if (!item.is_string()) return wrong(keyword, "must be an array of names");
    names.emplace_back(item.get_string());
  }
  return names;
}

}  // namespace millrace::schema
