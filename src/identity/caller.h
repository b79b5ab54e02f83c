// Caller: who is calling, as routes get it: role, tenant, user, and what that allows.
//
// Flow: Authenticator makes it of verified credentials; routes ask may() and for_tenant(); store
// puts claims_json() and the tenant into the transaction that serves the call. The tenant comes
// from the credentials and never from the request: claim app_metadata.tenant_id, else tenant_id,
// else sub, as millrace.claimed_tenant() reads them. user_metadata is the user's own to edit and
// decides nothing. Threading: a value.
#pragma once

#include "base/json.h"
#include "base/uuid.h"
#include "identity/caller_claims.h"
#include "identity/claims.h"
#include "identity/role.h"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::identity {

using UserId = Id<struct UserIdTag>;

// Where rows of callers go who are confined to no tenant.
inline constexpr TenantId kDefaultTenant{};
// Owns nothing: the tenant of a person whose token names none. The SQL side knows the same.
inline constexpr TenantId kNobodysTenant{{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}};

enum class AuthMethod { jwt, api_key, stream_ticket, url_ticket };

std::string_view to_string(AuthMethod method);

struct Caller {
  Role role = Role::anon;
  std::optional<TenantId> tenant = kNobodysTenant;  // Nothing: not confined to one.
  std::optional<UserId> user;
  std::string subject;   // As the token names it; not always a uuid.
  std::string token_id;  // For revocation and audit; empty when the token has none.
  std::vector<std::string> scopes;
  CapabilitySet capabilities;  // Of the role, less what the scopes leave out.
  std::optional<Instant> expires_at;
  AuthMethod method = AuthMethod::jwt;
  CallerClaims claims;  // As signed, or made up for what is no JWT.

  bool may(Capability capability) const { return capabilities.contains(capability); }
  // forbidden, naming what is missing.
  Result<void> require(Capability capability) const;

  // The tenant that new rows belong to.
  TenantId home_tenant() const { return tenant.value_or(kDefaultTenant); }
  // The same caller confined to `wanted`: for nobody but those who are not confined and may
  // impersonate, or whose tenant it is anyway.
  Result<Caller> for_tenant(TenantId wanted) const;

  // What PostgREST would put into request.jwt.claims: the claims, with the role that counts. The
  // database reads the same tenant in it, or none.
  std::string claims_json() const;
  // Whom the audit names where the claims name no user (setting millrace.actor).
  std::string actor() const;
};

// bad_claims: a role the issuer may not give, a tenant that is no uuid, nobody named at all.
Result<Caller> caller_from_claims(Claims claims, const TokenRules& rules);

// Claims that say of a caller without a JWT what a JWT would say.
json::Object claims_of(const Caller& caller);

}  // namespace millrace::identity
