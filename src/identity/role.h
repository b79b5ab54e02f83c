// Role and Capability: the fixed table of who may do what.
//
// A role comes with a token or an API key; a route asks for a capability and never for a role. What
// a caller may do inside the database is decided there, by grants and row security; this table only
// says which routes are open at all. Nothing is allowed that is not listed in role.cpp.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::identity {

enum class Role {
  anon,           // Nobody in particular, with a public key.
  authenticated,  // A person, confined to a tenant.
  service_role,   // A server of the application; not confined unless its token says so.
  reader,         // Looks at everything.
  operator_,      // Looks and repairs: pause, retry, redrive, cancel, limits.
  admin,          // Everything, tenants and tokens included.
};

std::string_view to_string(Role role);  // As in SQL and tokens: "operator".
Result<Role> parse_role(std::string_view name);
std::span<const Role> all_roles();
// Which roles a JWT may name; the others come with API keys only.
bool is_database_role(Role role);

enum class Capability {
  read,                // Jobs, documents, results, streams of the caller's tenant.
  write,               // Create and change them: enqueue, upload, cancel one's own.
  operate,             // Queues, limits, cron, dead letters.
  administer,          // Tenants, users, tokens.
  work,                // Claim, extend and settle jobs as a remote worker.
  impersonate_tenant,  // Act for a tenant that the credentials do not name.
};

std::string_view to_string(Capability capability);
std::optional<Capability> parse_capability(std::string_view name);

class CapabilitySet {
 public:
  constexpr CapabilitySet() = default;
  constexpr CapabilitySet(std::initializer_list<Capability> list) {
    for (const auto capability : list) add(capability);
  }

  constexpr void add(Capability capability) { bits_ |= bit(capability); }
  constexpr bool contains(Capability capability) const { return (bits_ & bit(capability)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

  friend constexpr CapabilitySet operator&(CapabilitySet a, CapabilitySet b) {
    a.bits_ &= b.bits_;
    return a;
  }
  friend constexpr bool operator==(CapabilitySet, CapabilitySet) = default;

 private:
  static constexpr std::uint32_t bit(Capability capability) {
    return 1U << static_cast<unsigned>(capability);
  }
  std::uint32_t bits_ = 0;
};

CapabilitySet capabilities_of(Role role);

}  // namespace millrace::identity
