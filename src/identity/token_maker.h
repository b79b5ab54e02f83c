// TokenMaker: makes HS256 JWTs shaped like Supabase's legacy keys, for `millrace token create`.
//
// Flow: a TokenSpec in, a token out that TokenVerifier accepts with the same secret and that
// supabase-js takes as its key. Roles of the database only; reader, operator and admin get API
// keys. Threading: any. Lifetime: clock and random outlive it.
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "identity/caller.h"

#include <chrono>
#include <optional>
#include <string>

namespace millrace::identity {

inline constexpr std::chrono::seconds kTokenTtlMax = std::chrono::days(3660);

struct TokenSpec {
  Role role = Role::authenticated;
  std::optional<TenantId> tenant;
  std::optional<UserId> user;
  std::chrono::seconds ttl{3600};  // One second to kTokenTtlMax.
};

struct MadeToken {
  Secret<std::string> token;
  std::string token_id;  // jti: what revoking names.
  Instant issued_at;
  Instant expires_at;
};

class TokenMaker {
 public:
  struct Options {
    Secret<std::string> secret;
    std::optional<std::string> key_id;  // Goes into the header, for choosing among secrets.
    std::string issuer = "millrace";
    std::string audience = "authenticated";  // Of tokens for people, as Supabase does.
    std::optional<std::string> ref;          // Supabase's project reference; some clients look.
  };

  // invalid_argument for a weak secret.
  static Result<TokenMaker> make(Options options, const Clock& clock, Random& random);

  Result<MadeToken> make_token(const TokenSpec& spec) const;

 private:
  TokenMaker(Options options, const Clock& clock, Random& random);

  Options options_;
  const Clock* clock_;
  Random* random_;
};

}  // namespace millrace::identity
