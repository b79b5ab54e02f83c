#include "api/credential_maker.h"

#include "api/wire_time.h"
#include "identity/api_key.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Role;

constexpr std::chrono::seconds kPersonTtl{3600};
constexpr std::chrono::seconds kProjectTtl = std::chrono::days(365);

std::unexpected<Error> wrong(std::string rule) {
  return fail(ErrorKind::invalid_argument, std::move(rule));
}

json::Object common_record(const CredentialSpec& spec) {
  json::Object record{{"role", identity::to_string(spec.role)}};
  if (spec.tenant) record["tenant_id"] = spec.tenant->to_string();
  if (spec.user) record["user_id"] = spec.user->to_string();
  if (!spec.name.empty()) record["name"] = spec.name;
  return record;
}

}  // namespace

std::string_view to_string(CredentialKind kind) {
  switch (kind) {
    case CredentialKind::jwt:
      return "jwt";
    case CredentialKind::api_key:
      return "api_key";
    case CredentialKind::supabase_key:
      return "supabase_key";
  }
  std::unreachable();
}

Result<CredentialKind> parse_credential_kind(std::string_view name) {
  for (const auto kind :
       {CredentialKind::jwt, CredentialKind::api_key, CredentialKind::supabase_key}) {
    if (name == to_string(kind)) return kind;
  }
  return wrong("kind must be jwt, api_key or supabase_key");
}

Result<MadeCredential> CredentialMaker::make(const CredentialSpec& spec) const {
  const bool may_be_jwt = identity::is_database_role(spec.role);
  const auto kind = spec.kind.value_or(may_be_jwt ? CredentialKind::jwt : CredentialKind::api_key);
  if (spec.role == Role::authenticated && !spec.user) {
    return wrong("the role authenticated needs a user");
  }
  if (spec.user && spec.role == Role::anon) return wrong("the role anon has no user");
  if (kind == CredentialKind::jwt && !may_be_jwt) {
    return wrong(fmt::format("the role {} has API keys only", identity::to_string(spec.role)));
  }
  return kind == CredentialKind::jwt ? make_jwt(spec) : make_key(spec, kind);
}

Result<MadeCredential> CredentialMaker::make_jwt(const CredentialSpec& spec) const {
  if (!spec.scopes.empty()) return wrong("scopes are for API keys");
  if (tokens_ == nullptr) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = "there is no secret to sign tokens with",
                      .hint = "set auth.jwt_secret (MILLRACE_AUTH_JWT_SECRET)"});
  }
  const auto usual = spec.role == Role::authenticated ? kPersonTtl : kProjectTtl;
  MR_TRY(auto made, tokens_->make_token({.role = spec.role,
                                         .tenant = spec.tenant,
                                         .user = spec.user,
                                         .ttl = spec.ttl.value_or(usual)}));
  auto record = common_record(spec);
  record["kind"] = "jwt";
  record["jti"] = made.token_id;
  record["expires_at"] = wire_time(made.expires_at);
  return MadeCredential{.text = std::move(made.token),
                        .record = std::move(record),
                        .kind = CredentialKind::jwt,
                        .expires_at = made.expires_at};
}

Result<MadeCredential> CredentialMaker::make_key(const CredentialSpec& spec,
                                                 CredentialKind kind) const {
  auto form = identity::ApiKeyForm::own;
  if (kind == CredentialKind::supabase_key) {
    if (spec.role != Role::anon && spec.role != Role::service_role) {
      return wrong("a supabase_key is for the roles anon and service_role");
    }
    form =
        spec.role == Role::anon ? identity::ApiKeyForm::publishable : identity::ApiKeyForm::secret;
  }
  for (const auto& scope : spec.scopes) {
    if (!identity::parse_capability(scope)) {
      return wrong(fmt::format("'{}' is no capability", scope));
    }
  }
  auto made = identity::create_api_key(form, random_);
  auto record = common_record(spec);
  record["kind"] = "api_key";
  record["hash"] = identity::to_hex(made.digest.hash);
  record["prefix"] = made.digest.display_prefix;
  if (!made.digest.public_id.empty()) record["public_id"] = made.digest.public_id;
  if (!spec.scopes.empty()) {
    record["scopes"] = json::Array(spec.scopes.begin(), spec.scopes.end());
  }
  MadeCredential credential{.text = std::move(made.text), .record = {}, .kind = kind};
  if (spec.ttl) {
    credential.expires_at = identity::instant_of(clock_.wall()) + *spec.ttl;
    record["expires_at"] = wire_time(*credential.expires_at);
  }
  credential.record = std::move(record);
  return credential;
}

}  // namespace millrace::api
