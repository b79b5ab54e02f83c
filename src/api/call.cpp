#include "api/call.h"

#include <fmt/format.h>

namespace millrace::api {

std::optional<Uuid> Call::owner() const {
  if (caller.role != identity::Role::authenticated && caller.role != identity::Role::anon) {
    return std::nullopt;
  }
  return caller.user ? caller.user->value : identity::kNobodysTenant.value;
}

std::string Call::actor() const {
  if (caller.user) return fmt::format("user:{}", *caller.user);
  if (!caller.token_id.empty()) return fmt::format("token:{}", caller.token_id);
  return fmt::format("role:{}", identity::to_string(caller.role));
}

const json::Value* Call::member(std::string_view name) const {
  const auto* object = body.if_object();
  const auto* value = object == nullptr ? nullptr : object->if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::string> Call::text(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

std::optional<std::int64_t> Call::integer(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr) return std::nullopt;
  // A whole number may be written 1.0.
  if (value->is_double()) return static_cast<std::int64_t>(value->get_double());
  return value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

std::optional<std::string> Call::json(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr) return std::nullopt;
  return to_json(*value);
}

}  // namespace millrace::api
