#include "api/call.h"

#include <utility>

namespace millrace::api {

namespace {

// The roles of the database that stand behind ours: staff acts through the server's own.
std::string database_role(identity::Role role) {
  switch (role) {
    case identity::Role::anon:
    case identity::Role::authenticated:
    case identity::Role::service_role:
      return std::string(identity::to_string(role));
    case identity::Role::reader:
      return "millrace_reader";
    case identity::Role::operator_:
    case identity::Role::admin:
      return "millrace_api";
  }
  std::unreachable();
}

}  // namespace

store::CallContext Call::context() const {
  return {.role = database_role(caller.role),
          .tenant = caller.tenant,
          .claims_json = caller.claims_json(),
          .actor = caller.actor()};
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
