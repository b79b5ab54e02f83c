#include "identity/public_key.h"

#include "identity/base64url.h"
#include "identity/refusal.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <array>
#include <climits>
#include <string>
#include <utility>

namespace millrace::identity {
namespace {

constexpr int kRsaMinBits = 2048;
constexpr int kRsaMaxBits = 8192;  // Larger ones only cost time, an attacker's choice of ours.
constexpr BN_ULONG kRsaMinExponent = 65537;
constexpr std::size_t kRsaMaxExponentBytes = 8;
constexpr std::size_t kCoordinateBytes = 32;

using ParamBuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, FreeWith<&OSSL_PARAM_BLD_free>>;
using ParamsPtr = std::unique_ptr<OSSL_PARAM, FreeWith<&OSSL_PARAM_free>>;
using BioPtr = std::unique_ptr<BIO, FreeWith<&BIO_free>>;
using EcdsaSignaturePtr = std::unique_ptr<ECDSA_SIG, FreeWith<&ECDSA_SIG_free>>;

const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

BignumPtr bignum_of(std::string_view bytes) {
  return BignumPtr(BN_bin2bn(data_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

Result<std::string> read_bytes(const json::Object& jwk, std::string_view name) {
  const auto* value = jwk.if_contains(name);
  if (value == nullptr || !value->is_string()) {
    return invalid(fmt::format("\"{}\" must be a string", name));
  }
  auto bytes = base64url_decode(value->get_string());
  if (!bytes) return invalid(fmt::format("\"{}\" must be base64url without padding", name));
  return *std::move(bytes);
}

// OpenSSL's key of `type` with what the builder holds; null when it does not accept it.
PkeyPtr make_key(const char* type, OSSL_PARAM_BLD* builder) {
  const ParamsPtr params(OSSL_PARAM_BLD_to_param(builder));
  const PkeyContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  if (!params || !context) return nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  EVP_PKEY* key = nullptr;
  const bool made = EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) == 1;
  PkeyPtr owned(key);
  return made ? std::move(owned) : nullptr;
}

Result<void> check_rsa(const BIGNUM* modulus, const BIGNUM* exponent) {
  const int bits = BN_num_bits(modulus);
  if (bits < kRsaMinBits || bits > kRsaMaxBits) {
    return invalid(
        fmt::format("an RSA key must have {} to {} bits, not {}", kRsaMinBits, kRsaMaxBits, bits));
  }
  if (BN_is_odd(modulus) != 1) return invalid("the modulus of an RSA key must be odd");
  const BignumPtr least(BN_new());
  if (!least || BN_set_word(least.get(), kRsaMinExponent) != 1) {
    return fail(ErrorKind::internal, "OpenSSL cannot make a number");
  }
  const bool fits = BN_num_bytes(exponent) <= static_cast<int>(kRsaMaxExponentBytes);
  if (!fits || BN_is_odd(exponent) != 1 || BN_cmp(exponent, least.get()) < 0) {
    return invalid(
        fmt::format("the exponent of an RSA key must be odd, at least {} and at most {} "
                    "bytes long",
                    kRsaMinExponent, kRsaMaxExponentBytes));
  }
  return ok();
}

// Whatever it was made from, OpenSSL has to find it sound: for EC, a point on the curve.
Result<void> check_sound(EVP_PKEY* key) {
  const PkeyContextPtr context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  if (!context || EVP_PKEY_public_check(context.get()) != 1) {
    return invalid("the key's numbers do not make a valid public key");
  }
  return ok();
}

Result<PublicKey> rsa_from_jwk(const json::Object& jwk) {
  MR_TRY(const auto n, read_bytes(jwk, "n"));
  MR_TRY(const auto e, read_bytes(jwk, "e"));
  // A leading zero byte is against RFC 7518 but sent by some; it changes nothing.
  if (n.size() > kRsaMaxBits / CHAR_BIT + 1) {
    return invalid(fmt::format("an RSA key must have {} to {} bits", kRsaMinBits, kRsaMaxBits));
  }
  if (e.size() > kRsaMaxExponentBytes) return invalid("the exponent of an RSA key is too long");
  const auto modulus = bignum_of(n);
  const auto exponent = bignum_of(e);
  const ParamBuilderPtr builder(OSSL_PARAM_BLD_new());
  if (!modulus || !exponent || !builder) {
    return fail(ErrorKind::internal, "OpenSSL cannot make a number");
  }
  MR_TRY_VOID(check_rsa(modulus.get(), exponent.get()));
  const bool pushed =
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) == 1;
  auto key = pushed ? make_key("RSA", builder.get()) : nullptr;
  if (!key) return invalid("\"n\" and \"e\" do not make an RSA key");
  return PublicKey{.algorithm = Algorithm::rs256, .pkey = std::move(key)};
}

Result<PublicKey> ec_from_jwk(const json::Object& jwk) {
  const auto* curve = jwk.if_contains("crv");
  if (curve == nullptr || !curve->is_string() || curve->get_string() != "P-256") {
    return invalid("\"crv\" must be P-256");
  }
  std::string point(1, '\x04');  // Uncompressed.
  for (const std::string_view name : {"x", "y"}) {
    MR_TRY(const auto bytes, read_bytes(jwk, name));
    if (bytes.empty() || bytes.size() > kCoordinateBytes) {
      return invalid(fmt::format("\"{}\" must have {} bytes", name, kCoordinateBytes));
    }
    // RFC 7518 asks for all 32, but some leave leading zeros out.
    point.append(kCoordinateBytes - bytes.size(), '\0');
    point += bytes;
  }
  const ParamBuilderPtr builder(OSSL_PARAM_BLD_new());
  if (!builder) return fail(ErrorKind::internal, "OpenSSL cannot make a key");
  const bool pushed = OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME,
                                                      "prime256v1", 0) == 1 &&
                      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                                       point.data(), point.size()) == 1;
  auto key = pushed ? make_key("EC", builder.get()) : nullptr;
  if (!key) return invalid("\"x\" and \"y\" are not a point on P-256");
  MR_TRY_VOID(check_sound(key.get()));
  return PublicKey{.algorithm = Algorithm::es256, .pkey = std::move(key)};
}

Result<Algorithm> check_rsa_pem(EVP_PKEY* key) {
  BIGNUM* modulus = nullptr;
  BIGNUM* exponent = nullptr;
  const bool got = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &modulus) == 1 &&
                   EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1;
  const BignumPtr owned_modulus(modulus);
  const BignumPtr owned_exponent(exponent);
  if (!got) return invalid("the RSA key cannot be read");
  MR_TRY_VOID(check_rsa(modulus, exponent));
  return Algorithm::rs256;
}

Result<Algorithm> check_ec_pem(EVP_PKEY* key) {
  std::array<char, 64> name{};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, name.data(), name.size(), &size) != 1 ||
      std::string_view(name.data(), size) != "prime256v1") {
    return invalid("an EC key must be on the curve P-256");
  }
  return Algorithm::es256;
}

// r and s as the DER that OpenSSL wants; empty when they are no numbers of a signature.
std::string der_signature(std::string_view signature) {
  auto r = bignum_of(signature.substr(0, kCoordinateBytes));
  auto s = bignum_of(signature.substr(kCoordinateBytes));
  const EcdsaSignaturePtr pair(ECDSA_SIG_new());
  if (!r || !s || !pair || BN_is_zero(r.get()) == 1 || BN_is_zero(s.get()) == 1) return {};
  if (ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return {};
  static_cast<void>(r.release());  // Now the pair's.
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(pair.get(), nullptr);
  if (size <= 0) return {};
  std::string der(static_cast<std::size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  if (i2d_ECDSA_SIG(pair.get(), &out) != size) return {};
  return der;
}

bool verify_sha256(EVP_PKEY* key, std::string_view bytes, std::string_view signature) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  if (!context) return false;
  if (EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1) return false;
  return EVP_DigestVerify(context.get(), data_of(signature), signature.size(), data_of(bytes),
                          bytes.size()) == 1;
}

}  // namespace

Result<PublicKey> public_key_from_jwk(const json::Object& jwk) {
  const ErrorQueueGuard guard;
  const auto* type = jwk.if_contains("kty");
  if (type != nullptr && type->is_string()) {
    if (type->get_string() == "RSA") return rsa_from_jwk(jwk);
    if (type->get_string() == "EC") return ec_from_jwk(jwk);
  }
  return invalid("\"kty\" must be RSA or EC");
}

Result<PublicKey> public_key_from_pem(std::string_view pem) {
  const ErrorQueueGuard guard;
  if (pem.size() > std::size_t{64} * 1024) return invalid("a PEM key has at most 64 KiB");
  if (pem.contains("PRIVATE KEY-----")) {
    return invalid("a private key was given where the public key belongs");
  }
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) return fail(ErrorKind::internal, "OpenSSL cannot read from memory");
  PkeyPtr key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  if (!key) return invalid("the key must be PEM with \"BEGIN PUBLIC KEY\"");
  Result<Algorithm> algorithm = invalid("the key must be RSA or EC");
  if (EVP_PKEY_is_a(key.get(), "RSA") == 1) {
    algorithm = check_rsa_pem(key.get());
  } else if (EVP_PKEY_is_a(key.get(), "EC") == 1) {
    algorithm = check_ec_pem(key.get());
  }
  if (!algorithm) return fail(std::move(algorithm).error());
  MR_TRY_VOID(check_sound(key.get()));
  return PublicKey{.algorithm = *algorithm, .pkey = std::move(key)};
}

bool verify_rs256(EVP_PKEY* key, std::string_view bytes, std::string_view signature) {
  const ErrorQueueGuard guard;
  return verify_sha256(key, bytes, signature);
}

bool verify_es256(EVP_PKEY* key, std::string_view bytes, std::string_view signature) {
  const ErrorQueueGuard guard;
  if (signature.size() != 2 * kCoordinateBytes) return false;
  const auto der = der_signature(signature);
  return !der.empty() && verify_sha256(key, bytes, der);
}

}  // namespace millrace::identity
