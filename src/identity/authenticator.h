// Authenticator: from credentials to a Caller, or the reason why not. Deny by default.
//
// Flow: the API reads Credentials off the headers and calls identify(); JWTs go to the
// TokenVerifier, API keys to the KeyDirectory, which the store implements with SQL. Everything that
// is presented must be good: a valid user token beside a wrong project key is refused. A JWT that
// was good is remembered for seconds (VerifiedTokens); whether it was revoked is asked each time.
// Strangers cannot make us ask: a token is checked before the directory hears of it, and API keys
// of those who sent bad ones too often are looked up only if they were good before (Welcome).
// Threading: any. Lifetime: verifier, directory and clock outlive it.
#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "identity/api_key.h"
#include "identity/credentials.h"
#include "identity/token_verifier.h"
#include "identity/verified_tokens.h"

#include <memory>
#include <optional>
#include <string>

namespace millrace::identity {

// Where API keys and revoked tokens are written down.
class KeyDirectory {
 public:
  virtual ~KeyDirectory() = default;

  // By public_id where the key has one, else by hash; nothing when there is no such key.
  virtual Task<std::optional<ApiKeyRecord>> find_api_key(ApiKeyDigest key) = 0;
  // `token_id` is the jti of a JWT that is otherwise good.
  virtual Task<bool> is_token_revoked(std::string token_id) = 0;
  // The same where it is remembered; nothing: ask. Asks nobody.
  virtual std::optional<bool> remembers_revoked(const std::string& token_id);

  // The key was presented, and it is good.
  virtual void note_good_key(const ApiKeyDigest& key, const std::string& key_id) = 0;
  // It was not long ago. Asks nobody.
  virtual bool was_good_key(const ApiKeyDigest& key) const = 0;
};

// Whose API keys are looked up.
enum class Welcome {
  anybody,
  known,  // Those that were good before; to all others an unknown key is what they have.
};

class Authenticator {
 public:
  Authenticator(const TokenVerifier& verifier, KeyDirectory& directory, const Clock& clock);

  // A Refusal says why not; any other error says that it cannot be found out now.
  Task<Caller> identify(Credentials credentials, Welcome welcome = Welcome::anybody) const;
  // The same for a token alone that was found good a moment ago and is remembered as not revoked,
  // which is nearly every request of a busy client: no coroutine is needed. Null: identify() knows.
  std::shared_ptr<const Caller> recognise(const Credentials& credentials) const;

 private:
  Task<Caller> identify_text(std::string text, Welcome welcome) const;
  Task<Caller> identify_api_key(std::string text, Welcome welcome) const;
  Task<Caller> identify_token(std::string text) const;

  const TokenVerifier& verifier_;
  KeyDirectory& directory_;
  const Clock& clock_;
  mutable VerifiedTokens verified_;  // A memory: what it forgets is found out again.
};

}  // namespace millrace::identity
