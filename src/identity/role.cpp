#include "identity/role.h"

#include "identity/refusal.h"

#include <array>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::array kRoles{Role::anon,   Role::authenticated, Role::service_role,
                            Role::reader, Role::operator_,     Role::admin};
constexpr std::array kCapabilities{Capability::read,    Capability::write,
                                   Capability::operate, Capability::administer,
                                   Capability::work,    Capability::impersonate_tenant};

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::anon:
      return "anon";
    case Role::authenticated:
      return "authenticated";
    case Role::service_role:
      return "service_role";
    case Role::reader:
      return "reader";
    case Role::operator_:
      return "operator";
    case Role::admin:
      return "admin";
  }
  std::unreachable();
}

Result<Role> parse_role(std::string_view name) {
  for (const auto role : kRoles) {
    if (name == to_string(role)) return role;
  }
  return invalid("a role is anon, authenticated, service_role, reader, operator or admin");
}

std::span<const Role> all_roles() { return kRoles; }

bool is_database_role(Role role) {
  return role == Role::anon || role == Role::authenticated || role == Role::service_role;
}

std::string_view to_string(Capability capability) {
  switch (capability) {
    case Capability::read:
      return "read";
    case Capability::write:
      return "write";
    case Capability::operate:
      return "operate";
    case Capability::administer:
      return "administer";
    case Capability::work:
      return "work";
    case Capability::impersonate_tenant:
      return "impersonate_tenant";
  }
  std::unreachable();
}

std::optional<Capability> parse_capability(std::string_view name) {
  for (const auto capability : kCapabilities) {
    if (name == to_string(capability)) return capability;
  }
  return std::nullopt;
}

CapabilitySet capabilities_of(Role role) {
  using enum Capability;
  switch (role) {
    case Role::anon:
      return {};
    case Role::authenticated:
      return {read, write};
    case Role::service_role:
      return {read, write, work, impersonate_tenant};
    case Role::reader:
      return {read};
    case Role::operator_:
      return {read, operate};
    case Role::admin:
      return {read, write, operate, administer, work, impersonate_tenant};
  }
  std::unreachable();
}

}  // namespace millrace::identity
