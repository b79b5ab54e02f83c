#include "schema/building.h"

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
  return Place::member(*node_.place, keyword).shown("the schema");
}

std::unexpected<Error> Building::wrong(std::string_view keyword, std::string_view rule) const {
  return fail(ErrorKind::invalid_argument, fmt::format("{} {}", path_of(keyword), rule));
}

Result<const Node*> Building::child_at(std::string_view keyword, const Place& place,
                                       const json::Value& value) {
  if (!value.is_object() && !value.is_bool()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} must be a schema", place.shown("the schema")));
  }
  return source_.node(source_.at(value), keyword);
}

Result<const Node*> Building::child(std::string_view keyword, const json::Value& value) {
  return child_at(keyword, Place::member(*node_.place, keyword), value);
}

Result<const Node*> Building::child(std::string_view keyword,
                                    const boost::json::key_value_pair& member) {
  const auto outer = Place::member(*node_.place, keyword);
  return child_at(keyword, Place::member(outer, member.key()), member.value());
}

Result<std::vector<const Node*>> Building::children(std::string_view keyword,
                                                    const json::Value& value) {
  const auto* array = value.if_array();
  if (array == nullptr) return wrong(keyword, "must be an array of schemas");
  const auto outer = Place::member(*node_.place, keyword);
  std::vector<const Node*> nodes;
  for (std::size_t i = 0; i < array->size(); ++i) {
    MR_TRY(const auto* node, child_at(keyword, Place::item(outer, i), (*array)[i]));
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
