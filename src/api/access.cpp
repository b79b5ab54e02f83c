#include "api/access.h"

#include "identity/refusal.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {

using identity::Refusal;
using identity::Role;

bool Access::opened_by(identity::CapabilitySet capabilities) const {
  return capabilities.contains(capability_) || (other_ && capabilities.contains(*other_));
}

bool Access::admits(Role role) const {
  if (!guarded()) return true;
  if (kind_ == Kind::database) return identity::is_database_role(role);
  if (role == Role::authenticated && !people_) return false;
  return opened_by(identity::capabilities_of(role));
}

std::vector<Role> Access::roles() const {
  std::vector<Role> out;
  for (const auto role : identity::all_roles()) {
    if (admits(role)) out.push_back(role);
  }
  return out;
}

Result<void> Access::check(const identity::Caller& caller) const {
  if (!guarded()) return ok();
  if (!admits(caller.role)) {
    return identity::refuse(Refusal::forbidden, fmt::format("the role {} may not do this",
                                                            identity::to_string(caller.role)));
  }
  if (kind_ == Kind::database) {
    // Scopes say less than the role may; the database knows the role only.
    if (caller.capabilities == identity::capabilities_of(caller.role)) return ok();
    return identity::refuse(Refusal::forbidden, "a key with scopes may not do this");
  }
  if (!opened_by(caller.capabilities)) MR_TRY_VOID(caller.require(capability_));
  if (confinement_ == Confinement::installation && caller.tenant) {
    return identity::refuse(Refusal::forbidden,
                            "this concerns all tenants; these credentials are confined to one");
  }
  return ok();
}

std::string_view to_string(Access::Kind kind) {
  switch (kind) {
    case Access::Kind::open:
      return "open";
    case Access::Kind::caller:
      return "caller";
    case Access::Kind::stream:
      return "stream";
    case Access::Kind::database:
      return "database";
    case Access::Kind::signature:
      return "signature";
  }
  std::unreachable();
}

}  // namespace millrace::api
