#include "identity/caller_claims.h"

#include <boost/json/object.hpp>

#include <mutex>
#include <utility>

namespace millrace::identity {
namespace {

std::string print(json::Object claims, Role role) {
  claims["role"] = to_string(role);
  return to_json(claims);
}

}  // namespace

struct CallerClaims::State {
  explicit State(json::Object claims) : object(std::move(claims)) {}

  const json::Object object;
  // The text for the first role that was asked for: a caller has one.
  mutable std::once_flag once;
  mutable Role role = Role::anon;
  mutable std::string text;
};

CallerClaims::CallerClaims() = default;

CallerClaims::CallerClaims(json::Object claims)
    : state_(std::make_shared<const State>(std::move(claims))) {}

const json::Object& CallerClaims::object() const {
  static const json::Object none;
  return state_ ? state_->object : none;
}

std::string CallerClaims::text(Role role) const {
  if (!state_) return print({}, role);
  const auto& state = *state_;
  std::call_once(state.once, [&] {
    state.text = print(state.object, role);
    state.role = role;
  });
  return state.role == role ? state.text : print(state.object, role);
}

}  // namespace millrace::identity
