// Public keys as OpenSSL holds them: made from a JWK or PEM, and used to check signatures.
//
// Flow: VerifyKey calls these; nobody else sees OpenSSL. Weak keys do not get through: RSA has 2048
// to 8192 bits and an exponent of at least 65537, EC is a point on P-256. For source files only.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "identity/compact_jws.h"
#include "identity/openssl_guard.h"

#include <string_view>

namespace millrace::identity {

struct PublicKey {
  Algorithm algorithm = Algorithm::rs256;  // RSA is RS256, P-256 is ES256; nothing else is done.
  PkeyPtr pkey;
};

// From `kty`, and `n`, `e` or `crv`, `x`, `y`. invalid_argument names the member and the rule.
Result<PublicKey> public_key_from_jwk(const json::Object& jwk);
// "-----BEGIN PUBLIC KEY-----".
Result<PublicKey> public_key_from_pem(std::string_view pem);

bool verify_rs256(EVP_PKEY* key, std::string_view bytes, std::string_view signature);
// `signature` is r and s, 32 bytes each.
bool verify_es256(EVP_PKEY* key, std::string_view bytes, std::string_view signature);

}  // namespace millrace::identity
