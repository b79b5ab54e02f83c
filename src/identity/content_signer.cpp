#include "identity/content_signer.h"

#include "identity/base64.h"
#include "identity/digest.h"
#include "identity/openssl_guard.h"
#include "identity/refusal.h"
#include "identity/verify_key.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;
constexpr std::size_t kKeyIdDigits = 16;
constexpr std::string_view kAlgorithm = "Ed25519";
// SubjectPublicKeyInfo of RFC 8410 up to the key itself.
constexpr std::string_view kKeyPrefix{"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12};

const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

PkeyPtr private_key(const Secret<std::string>& seed) {
  return PkeyPtr(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, data_of(seed.reveal()),
                                              seed.reveal().size()));
}

bool fits(std::string_view public_key, std::string_view bytes, std::string_view signature) {
  const ErrorQueueGuard errors;
  const auto info = base64_decode(public_key);
  if (!info || info->size() != kKeyPrefix.size() + kKeyBytes || !info->starts_with(kKeyPrefix)) {
    return false;
  }
  const auto raw = std::string_view(*info).substr(kKeyPrefix.size());
  const PkeyPtr key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data_of(raw), raw.size()));
  const DigestContextPtr context(EVP_MD_CTX_new());
  if (!key || !context ||
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) {
    return false;
  }
  return EVP_DigestVerify(context.get(), data_of(signature), signature.size(), data_of(bytes),
                          bytes.size()) == 1;
}

std::string_view text_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                : std::string_view();
}

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::conflict, std::move(message));
}

}  // namespace

Result<ContentSigner> ContentSigner::make(const Secret<std::string>& secret) {
  MR_TRY_VOID(check_secret(secret));
  const ErrorQueueGuard errors;
  Secret<std::string> seed(hkdf_sha256(
      {.secret = secret.reveal(), .salt = "millrace signature", .info = "content v1"}, kKeyBytes));
  const auto key = private_key(seed);
  std::array<unsigned char, kKeyBytes> raw{};
  std::size_t size = raw.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), raw.data(), &size) != 1) {
    return fail(ErrorKind::internal, "no key of Ed25519 can be made");
  }
  const std::string_view bytes(reinterpret_cast<const char*>(raw.data()), size);
  return ContentSigner(std::move(seed), base64_encode(std::string(kKeyPrefix).append(bytes)));
}

Result<json::Object> ContentSigner::sign(std::string_view file_name, std::string_view bytes) const {
  const ErrorQueueGuard errors;
  const auto key = private_key(seed_);
  const DigestContextPtr context(EVP_MD_CTX_new());
  std::array<unsigned char, kSignatureBytes> made{};
  std::size_t size = made.size();
  if (!key || !context ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), made.data(), &size, data_of(bytes), bytes.size()) != 1) {
    return fail(ErrorKind::internal, "the content cannot be signed");
  }
  json::Object out;
  out["schema"] = kSignatureSchema;
  out["file"] = file_name;
  out["sha256"] = to_hex(sha256(bytes));
  out["algorithm"] = kAlgorithm;
  out["key_id"] = content_key_id(public_key_);
  out["public_key"] = public_key_;
  out["signature"] = base64_encode({reinterpret_cast<const char*>(made.data()), size});
  return out;
}

std::string content_key_id(std::string_view public_key) {
  return to_hex(sha256(public_key)).substr(0, kKeyIdDigits);
}

Result<void> check_signature(const json::Object& signature, std::string_view file_name,
                             std::string_view bytes, std::span<const std::string> public_keys) {
  if (text_of(signature, "schema") != kSignatureSchema ||
      text_of(signature, "algorithm") != kAlgorithm) {
    return wrong(fmt::format("it is no {} by {}", kSignatureSchema, kAlgorithm));
  }
  if (text_of(signature, "file") != file_name) return wrong("it is of another file");
  const auto made = base64_decode(text_of(signature, "signature"));
  if (!made || made->size() != kSignatureBytes) return wrong("it is damaged");
  const auto named = text_of(signature, "public_key");
  if (text_of(signature, "key_id") != content_key_id(named)) return wrong("it is damaged");
  const auto key = std::ranges::find(public_keys, named);
  if (key == public_keys.end()) {
    return wrong(fmt::format("it is by the key {}, which is not trusted", content_key_id(named)));
  }
  if (text_of(signature, "sha256") != to_hex(sha256(bytes)) || !fits(*key, bytes, *made)) {
    return wrong(fmt::format("{} is not what was signed", file_name));
  }
  return ok();
}

}  // namespace millrace::identity
