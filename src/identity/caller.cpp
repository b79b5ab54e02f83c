#include "identity/caller.h"

#include "identity/refusal.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::string_view kScopePrefix = "millrace:";

// A tenant claim that is there counts: one that is no uuid must not let the next one decide.
Result<std::optional<TenantId>> read_tenant(const json::Value* value, std::string_view name) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_string()) {
    if (const auto tenant = TenantId::parse(value->get_string())) return *tenant;
  }
  return refuse(Refusal::bad_claims, fmt::format("the claim \"{}\" must be a uuid", name));
}

Result<std::optional<TenantId>> tenant_of(const json::Object& claims,
                                          const std::optional<UserId>& user) {
  if (const auto* metadata = claims.if_contains("app_metadata");
      metadata != nullptr && !metadata->is_null()) {
    if (!metadata->is_object()) {
      return refuse(Refusal::bad_claims, "the claim \"app_metadata\" must be an object");
    }
    MR_TRY(const auto tenant,
           read_tenant(metadata->get_object().if_contains("tenant_id"), "app_metadata.tenant_id"));
    if (tenant) return tenant;
  }
  MR_TRY(const auto tenant, read_tenant(claims.if_contains("tenant_id"), "tenant_id"));
  if (tenant) return tenant;
  if (user) return TenantId{user->value};
  return std::nullopt;
}

Result<Role> role_of(const Claims& claims, const TokenRules& rules) {
  if (!claims.role) {
    // Issuers that know nothing of database roles name their users. A token that names nobody is
    // for something else, such as a signed URL of a storage service with the same secret.
    const bool user_allowed =
        std::ranges::find(rules.roles, Role::authenticated) != rules.roles.end();
    if (claims.subject && !claims.subject->empty() && user_allowed) return Role::authenticated;
    return refuse(Refusal::bad_claims, "the token names neither a role nor a subject");
  }
  const auto role = parse_role(*claims.role);
  if (!role || std::ranges::find(rules.roles, *role) == rules.roles.end()) {
    return refuse(Refusal::bad_claims, "the token's role is not one its issuer may give");
  }
  return *role;
}

// `scope` is one text of words (RFC 8693), `scp` a list or the same. Only our own words count, so
// that "openid email" takes nothing away.
std::vector<std::string> scopes_of(const json::Object& claims) {
  std::vector<std::string> scopes;
  const auto take = [&](std::string_view words) {
    while (!words.empty()) {
      const auto end = std::min(words.find(' '), words.size());
      const auto word = words.substr(0, end);
      if (word.starts_with(kScopePrefix)) scopes.emplace_back(word);
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  };
  for (const std::string_view name : {"scope", "scp"}) {
    const auto* value = claims.if_contains(name);
    if (value == nullptr) continue;
    if (const auto* text = value->if_string()) take(*text);
    if (const auto* list = value->if_array()) {
      for (const auto& element : *list) {
        if (element.is_string()) take(element.get_string());
      }
    }
  }
  return scopes;
}

}  // namespace

std::string_view to_string(AuthMethod method) {
  switch (method) {
    case AuthMethod::jwt:
      return "jwt";
    case AuthMethod::api_key:
      return "api_key";
    case AuthMethod::stream_ticket:
      return "stream_ticket";
    case AuthMethod::url_ticket:
      return "url_ticket";
  }
  std::unreachable();
}

Result<void> Caller::require(Capability capability) const {
  if (may(capability)) return ok();
  return refuse(Refusal::forbidden, fmt::format("the role {} may not {} with these credentials",
                                                to_string(role), to_string(capability)));
}

Result<Caller> Caller::for_tenant(TenantId wanted) const {
  if (tenant == wanted) return *this;
  if (tenant.has_value()) {
    return refuse(Refusal::forbidden, "these credentials are confined to another tenant");
  }
  MR_TRY_VOID(require(Capability::impersonate_tenant));
  Caller confined = *this;
  confined.tenant = wanted;
  json::Object narrowed = claims.object();
  auto& metadata = narrowed["app_metadata"];
  if (!metadata.is_object()) metadata = json::Object();
  metadata.get_object()["tenant_id"] = wanted.to_string();
  confined.claims = std::move(narrowed);
  return confined;
}

std::string Caller::actor() const {
  if (user) return "user:" + user->to_string();
  if (!subject.empty()) return "subject:" + subject;
  if (!token_id.empty()) return (method == AuthMethod::api_key ? "key:" : "token:") + token_id;
  return "role:" + std::string(to_string(role));
}

std::string Caller::claims_json() const { return claims.text(role); }

Result<Caller> caller_from_claims(Claims claims, const TokenRules& rules) {
  Caller caller;
  MR_TRY(caller.role, role_of(claims, rules));
  if (claims.subject) {
    caller.subject = *std::move(claims.subject);
    if (const auto user = UserId::parse(caller.subject)) caller.user = *user;
  }
  MR_TRY(caller.tenant, tenant_of(claims.all, caller.user));
  const bool person = caller.role == Role::anon || caller.role == Role::authenticated;
  if (person && !caller.tenant) caller.tenant = kNobodysTenant;
  caller.token_id = std::move(claims.token_id).value_or("");
  caller.expires_at = claims.expires_at;
  caller.method = AuthMethod::jwt;
  caller.capabilities = capabilities_of(caller.role);
  caller.scopes = scopes_of(claims.all);
  if (!caller.scopes.empty()) {
    CapabilitySet named;
    for (const std::string_view scope : caller.scopes) {
      // A word of ours that we do not know gives nothing, but still says that not all is meant.
      const auto capability = parse_capability(scope.substr(kScopePrefix.size()));
      if (capability) named.add(*capability);
    }
    caller.capabilities = caller.capabilities & named;
  }
  caller.claims = std::move(claims.all);
  return caller;
}

json::Object claims_of(const Caller& caller) {
  json::Object claims;
  claims["role"] = to_string(caller.role);
  // Without a tenant claim the database would take the subject for one, and confine the caller.
  const bool would_confine = !caller.tenant && caller.user.has_value();
  if (!caller.subject.empty() && !would_confine) claims["sub"] = caller.subject;
  if (caller.tenant) {
    claims["app_metadata"] = json::Object{{"tenant_id", caller.tenant->to_string()}};
  }
  if (!caller.token_id.empty()) claims["jti"] = caller.token_id;
  if (caller.expires_at) {
    claims["exp"] =
        std::chrono::floor<std::chrono::seconds>(*caller.expires_at).time_since_epoch().count();
  }
  return claims;
}

}  // namespace millrace::identity
