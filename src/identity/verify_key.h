// VerifyKey: one key that can check signatures, and the one algorithm it is for.
//
// The algorithm belongs to the key: a secret is HS256, an RSA key RS256, a P-256 key ES256. A token
// that says otherwise is not even tried, so a public key can never serve as an HMAC secret. Weak
// keys are refused when they are made, at start-up, with an error that names the rule.
// Threading: immutable, any thread. Copies share the key material.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "identity/compact_jws.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::identity {

inline constexpr std::size_t kSecretMinBytes = 32;
inline constexpr std::size_t kSecretMaxBytes = 4096;

// For HS256 and everything derived: 32 to 4096 bytes, and no PEM (a public key is no secret).
Result<void> check_secret(const Secret<std::string>& secret);

class VerifyKey {
 public:
  static Result<VerifyKey> from_secret(const Secret<std::string>& secret,
                                       std::optional<std::string> key_id = std::nullopt);
  static Result<VerifyKey> from_pem(std::string_view pem,
                                    std::optional<std::string> key_id = std::nullopt);
  // A public RSA or P-256 key meant for checking signatures: `use`, `key_ops` and `alg` must allow
  // it where they are present. Shared secrets (`oct`) and published private keys are refused.
  static Result<VerifyKey> from_jwk(const json::Object& jwk);

  Algorithm algorithm() const { return algorithm_; }
  const std::optional<std::string>& key_id() const { return key_id_; }

  bool verify(std::string_view signing_input, std::string_view signature) const;

 private:
  struct Material;
  VerifyKey(Algorithm algorithm, std::optional<std::string> key_id,
            std::shared_ptr<const Material> material);

  Algorithm algorithm_;
  std::optional<std::string> key_id_;
  std::shared_ptr<const Material> material_;  // Shared by copies: immutable.
};

}  // namespace millrace::identity
