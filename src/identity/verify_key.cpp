#include "identity/verify_key.h"

#include "identity/digest.h"
#include "identity/public_key.h"
#include "identity/refusal.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::identity {
namespace {

Result<void> check_key_id(const std::optional<std::string>& key_id) {
  if (key_id && key_id->size() > kKeyIdMaxBytes) {
    return invalid(fmt::format("a key id has at most {} bytes", kKeyIdMaxBytes));
  }
  return ok();
}

// What the publisher says the key is for; nothing said is no objection.
Result<void> check_purpose(const json::Object& jwk) {
  if (const auto* use = jwk.if_contains("use")) {
    if (!use->is_string() || use->get_string() != "sig") {
      return invalid("\"use\" says that the key is not for signatures");
    }
  }
  if (const auto* operations = jwk.if_contains("key_ops")) {
    const auto* list = operations->if_array();
    const bool verifies = list != nullptr && std::ranges::any_of(*list, [](const auto& operation) {
                            return operation.is_string() && operation.get_string() == "verify";
                          });
    if (!verifies) return invalid("\"key_ops\" does not allow to verify");
  }
  // RFC 7518 §6: d is the private part of both kinds, the others of RSA.
  for (const std::string_view secret : {"d", "p", "q", "dp", "dq", "qi", "k"}) {
    if (jwk.contains(secret)) {
      return invalid("it holds its private part, so anybody may have signed with it");
    }
  }
  return ok();
}

}  // namespace

struct VerifyKey::Material {
  Secret<std::string> secret;
  PkeyPtr pkey;
};

Result<void> check_secret(const Secret<std::string>& secret) {
  const auto& bytes = secret.reveal();
  if (bytes.size() < kSecretMinBytes || bytes.size() > kSecretMaxBytes) {
    return invalid(fmt::format("a signing secret must have {} to {} bytes, not {}", kSecretMinBytes,
                               kSecretMaxBytes, bytes.size()));
  }
  if (bytes.contains("-----BEGIN ")) {
    return invalid("a signing secret must not be a PEM key: whoever has the key could sign");
  }
  return ok();
}

VerifyKey::VerifyKey(Algorithm algorithm, std::optional<std::string> key_id,
                     std::shared_ptr<const Material> material)
    : algorithm_(algorithm), key_id_(std::move(key_id)), material_(std::move(material)) {}

Result<VerifyKey> VerifyKey::from_secret(const Secret<std::string>& secret,
                                         std::optional<std::string> key_id) {
  MR_TRY_VOID(check_secret(secret));
  MR_TRY_VOID(check_key_id(key_id));
  return VerifyKey(Algorithm::hs256, std::move(key_id),
                   std::make_shared<const Material>(Material{.secret = secret, .pkey = nullptr}));
}

Result<VerifyKey> VerifyKey::from_pem(std::string_view pem, std::optional<std::string> key_id) {
  MR_TRY_VOID(check_key_id(key_id));
  MR_TRY(auto key, public_key_from_pem(pem));
  return VerifyKey(
      key.algorithm, std::move(key_id),
      std::make_shared<const Material>(Material{.secret = {}, .pkey = std::move(key.pkey)}));
}

Result<VerifyKey> VerifyKey::from_jwk(const json::Object& jwk) {
  std::optional<std::string> key_id;
  if (const auto* value = jwk.if_contains("kid")) {
    if (!value->is_string()) return invalid("\"kid\" must be a string");
    key_id = std::string(value->get_string());
  }
  MR_TRY_VOID(check_key_id(key_id));
  MR_TRY_VOID(check_purpose(jwk));
  MR_TRY(auto key, public_key_from_jwk(jwk));
  if (const auto* algorithm = jwk.if_contains("alg")) {
    if (!algorithm->is_string() || algorithm->get_string() != to_string(key.algorithm)) {
      return invalid(
          fmt::format("\"alg\" must be {} for a key of this type", to_string(key.algorithm)));
    }
  }
  return VerifyKey(
      key.algorithm, std::move(key_id),
      std::make_shared<const Material>(Material{.secret = {}, .pkey = std::move(key.pkey)}));
}

bool VerifyKey::verify(std::string_view signing_input, std::string_view signature) const {
  switch (algorithm_) {
    case Algorithm::hs256: {
      const auto expected = hmac_sha256(material_->secret.reveal(), signing_input);
      return equal_in_constant_time(bytes_of(expected), signature);
    }
    case Algorithm::rs256:
      return verify_rs256(material_->pkey.get(), signing_input, signature);
    case Algorithm::es256:
      return verify_es256(material_->pkey.get(), signing_input, signature);
  }
  std::unreachable();
}

}  // namespace millrace::identity
