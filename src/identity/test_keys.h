// Keys and tokens for tests: made fresh with OpenSSL, and put together from any header, payload and
// signature, so that every malformed token can be made. For tests only.
#pragma once

#include "base/assert.h"
#include "base/json.h"
#include "identity/base64url.h"
#include "identity/digest.h"
#include "identity/openssl_guard.h"

#include <boost/json/object.hpp>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::identity {

inline const std::string kTestSecret = "a secret of tests with more than 32 bytes";
inline const std::string kOtherSecret = "another secret with more than 32 bytes too";

class TestKey {
 public:
  static TestKey rsa(unsigned bits = 2048) { return TestKey(EVP_RSA_gen(bits)); }
  static TestKey ec(const char* curve = "P-256") { return TestKey(EVP_EC_gen(curve)); }

  // The public half.
  json::Object jwk(std::string kid = {}) const {
    json::Object jwk;
    if (EVP_PKEY_is_a(pkey_.get(), "RSA") == 1) {
      jwk = {{"kty", "RSA"},
             {"n", base64url_encode(number(OSSL_PKEY_PARAM_RSA_N))},
             {"e", base64url_encode(number(OSSL_PKEY_PARAM_RSA_E))}};
    } else {
      jwk = {{"kty", "EC"},
             {"crv", "P-256"},
             {"x", base64url_encode(number(OSSL_PKEY_PARAM_EC_PUB_X, 32))},
             {"y", base64url_encode(number(OSSL_PKEY_PARAM_EC_PUB_Y, 32))}};
    }
    if (!kid.empty()) jwk["kid"] = kid;
    return jwk;
  }

  std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    MR_ASSERT(PEM_write_bio_PUBKEY(bio, pkey_.get()) == 1);
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    return text;
  }

  // As a JWS has it: r and s for EC.
  std::string sign(std::string_view bytes) const {
    const auto der = sign_der(bytes);
    if (EVP_PKEY_is_a(pkey_.get(), "EC") != 1) return der;
    const auto* data = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &data, static_cast<long>(der.size()));
    MR_ASSERT(pair != nullptr);
    std::string raw = padded(ECDSA_SIG_get0_r(pair), 32) + padded(ECDSA_SIG_get0_s(pair), 32);
    ECDSA_SIG_free(pair);
    return raw;
  }

  std::string sign_der(std::string_view bytes) const {
    const DigestContextPtr context(EVP_MD_CTX_new());
    MR_ASSERT(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, pkey_.get()) == 1);
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t size = 0;
    MR_ASSERT(EVP_DigestSign(context.get(), nullptr, &size, data, bytes.size()) == 1);
    std::string signature(size, '\0');
    MR_ASSERT(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                             &size, data, bytes.size()) == 1);
    signature.resize(size);
    return signature;
  }

  static std::string padded(const BIGNUM* value, int size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    MR_ASSERT(BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()), size) == size);
    return bytes;
  }

 private:
  explicit TestKey(EVP_PKEY* pkey) : pkey_(pkey) { MR_ASSERT(pkey != nullptr); }

  std::string number(const char* name, int size = 0) const {
    BIGNUM* value = nullptr;
    MR_ASSERT(EVP_PKEY_get_bn_param(pkey_.get(), name, &value) == 1);
    auto bytes = padded(value, size == 0 ? BN_num_bytes(value) : size);
    BN_free(value);
    return bytes;
  }

  PkeyPtr pkey_;
};

// "header.payload" of two texts, which need not be JSON.
inline std::string signing_input(std::string_view header, std::string_view payload) {
  return base64url_encode(header) + "." + base64url_encode(payload);
}

inline std::string with_signature(const std::string& input, std::string_view signature) {
  return input + "." + base64url_encode(signature);
}

inline std::string hs256_token(std::string_view header, std::string_view payload,
                               std::string_view secret = kTestSecret) {
  const auto input = signing_input(header, payload);
  return with_signature(input, bytes_of(hmac_sha256(secret, input)));
}

inline std::string hs256_token(std::string_view payload) {
  return hs256_token(R"({"alg":"HS256","typ":"JWT"})", payload);
}

inline std::string signed_token(const TestKey& key, std::string_view header,
                                std::string_view payload) {
  const auto input = signing_input(header, payload);
  return with_signature(input, key.sign(input));
}

inline std::string jwks_text(const std::vector<json::Object>& jwks) {
  std::string text = R"({"keys":[)";
  for (bool first = true; const auto& jwk : jwks) {
    if (!std::exchange(first, false)) text += ",";
    text += to_json(jwk);
  }
  return text + "]}";
}

}  // namespace millrace::identity
