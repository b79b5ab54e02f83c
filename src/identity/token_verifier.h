// TokenVerifier: says whether a JWT is good, and who it is for.
//
// Flow: parse → choose keys by key id and algorithm → check the signature → read the claims →
// check them by the rules of whoever's key it was → Caller. Two kinds of issuers: configured keys
// (shared secrets, several at once while one is replaced by the next; public keys) and a published
// key set. HS256 is checked with configured secrets only, so no token can make us fetch for it.
// Threading: any thread. Lifetime: clock and key cache outlive it.
#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "identity/caller.h"
#include "identity/claims.h"
#include "identity/compact_jws.h"
#include "identity/jwks_cache.h"
#include "identity/key_set.h"

#include <string>

namespace millrace::identity {

class TokenVerifier {
 public:
  struct Options {
    KeySet keys;
    TokenRules key_rules;
    JwksCache* jwks = nullptr;  // Without one, only `keys` count.
    // Whoever else uses the same issuer gets tokens from it too: an audience is required.
    TokenRules jwks_rules{.audiences = {"authenticated"},
                          .audience_required = true,
                          .roles = {Role::anon, Role::authenticated}};
  };

  // invalid_argument for options that would accept nothing, or tokens meant for others.
  static Result<TokenVerifier> make(Options options, const Clock& clock);

  // A Refusal says why not; unavailable: the issuer's keys cannot be had at present.
  Task<Caller> verify(std::string token) const;

 private:
  TokenVerifier(Options options, const Clock& clock);

  Task<void> check_by_issuer(CompactJws token) const;
  Result<Caller> admit(const CompactJws& token, const TokenRules& rules) const;

  Options options_;
  const Clock* clock_;
};

}  // namespace millrace::identity
