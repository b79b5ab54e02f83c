#include "api/call.h"

#include "api/raw_json.h"

#include <cmath>
#include <limits>
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

// The nearest there is: what a schema without a maximum let pass must not become nothing, which
// would mean "not said", nor a number of the other sign.
std::int64_t saturated(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63: the first that is too large.
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<std::int64_t>::max();
  if (value < -kLimit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
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
  if (value->is_double()) return saturated(value->get_double());
  if (value->is_uint64()) return std::numeric_limits<std::int64_t>::max();  // Else it is an int64.
  return value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

std::optional<std::string> Call::json(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr) return std::nullopt;
  if (const auto raw = raw_member(body_text, name)) return std::string(*raw);
  return to_json(*value);
}

}  // namespace millrace::api
