#include "provider/reply_json.h"

#include "base/json_outside.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cmath>

namespace millrace::provider {
const json::Value* at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const auto* here = &value;
  for (const auto name : path) {
    const auto* object = here->if_object();
    here = object == nullptr ? nullptr : object->if_contains(name);
    if (here == nullptr) return nullptr;
  }
  return here;
}

const json::Value* told_at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const auto* found = at(value, path);
  if (found == nullptr || found->is_null()) return nullptr;
  const bool empty = (found->is_string() && found->get_string().empty()) ||
                     (found->is_array() && found->get_array().empty()) ||
                     (found->is_object() && found->get_object().empty());
  return empty ? nullptr : found;
}

const json::Value* error_at(const json::Value& value,
                            std::initializer_list<std::string_view> path) {
  const auto* found = at(value, path);
  return found == nullptr || says_nothing(*found) ? nullptr : found;
}

std::string text_at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const auto* found = at(value, path);
  if (found == nullptr) return {};
  if (found->is_string()) return std::string(found->get_string());
  return found->is_number() ? to_json(*found) : std::string();
}

std::optional<std::uint64_t> count_at(const json::Value& value,
                                      std::initializer_list<std::string_view> path) {
  const auto* found = at(value, path);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  const double number = found->to_number<double>();
  if (!(number >= 0) || number > static_cast<double>(kTokensMax)) return std::nullopt;
  return static_cast<std::uint64_t>(std::ceil(number));
}

const json::Array* array_at(const json::Value& value,
                            std::initializer_list<std::string_view> path) {
  const auto* found = at(value, path);
  return found == nullptr ? nullptr : found->if_array();
}

}  // namespace millrace::provider
