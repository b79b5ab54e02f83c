// CredentialMaker: makes what `millrace token create` and POST /api/v1/tokens hand out.
//
// Flow: a spec in; out come the credential, which is shown once, and the record that the database
// keeps of it: hash or token id, role, tenant, times, never the credential. anon, authenticated and
// service_role get JWTs that supabase-js takes as keys, or API keys if asked; the other roles get
// API keys only. Threading: any. Lifetime: what it refers to outlives it.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "identity/token_maker.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

enum class CredentialKind {
  jwt,
  api_key,       // mr_…
  supabase_key,  // sb_publishable_… for anon, sb_secret_… for service_role.
};

std::string_view to_string(CredentialKind kind);
Result<CredentialKind> parse_credential_kind(std::string_view name);

struct CredentialSpec {
  identity::Role role = identity::Role::authenticated;
  std::optional<CredentialKind> kind = {};  // Default: a JWT where the role may have one.
  std::optional<TenantId> tenant = {};
  std::optional<identity::UserId> user = {};
  std::string name = {};
  std::vector<std::string> scopes = {};  // Of keys.
  std::optional<std::chrono::seconds> ttl = {};
};

struct MadeCredential {
  Secret<std::string> text;
  json::Object record;  // As millrace.create_api_token takes it.
  CredentialKind kind = CredentialKind::jwt;
  std::optional<identity::Instant> expires_at;
};

class CredentialMaker {
 public:
  // Without a token maker there are no JWTs: nobody knows the secret but this process.
  CredentialMaker(const identity::TokenMaker* tokens, const Clock& clock, Random& random)
      : tokens_(tokens), clock_(clock), random_(random) {}

  // invalid_argument names what does not go together.
  Result<MadeCredential> make(const CredentialSpec& spec) const;

 private:
  Result<MadeCredential> make_jwt(const CredentialSpec& spec) const;
  Result<MadeCredential> make_key(const CredentialSpec& spec, CredentialKind kind) const;

  const identity::TokenMaker* tokens_;
  const Clock& clock_;
  Random& random_;
};

}  // namespace millrace::api
