#include "identity/standard_webhook.h"

#include "identity/base64.h"
#include "identity/digest.h"
#include "identity/openssl_guard.h"
#include "identity/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::identity {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::string_view kPublicPrefix = "whpk_";
constexpr std::size_t kSecretMin = 24;
constexpr std::size_t kSecretMax = 64;
constexpr std::size_t kEd25519Bytes = 32;
// A sender changes keys one at a time; more than this is somebody who tries.
constexpr std::size_t kSignaturesMax = 16;

Result<Secret<std::string>> shared_secret(std::string_view text) {
  auto bytes = base64_decode(text.substr(kSecretPrefix.size()));
  if (!bytes || bytes->size() < kSecretMin || bytes->size() > kSecretMax) {
    return invalid(
        fmt::format("a whsec_ key must be base64 of {} to {} bytes", kSecretMin, kSecretMax));
  }
  return Secret<std::string>(*std::move(bytes));
}

Result<PkeyPtr> public_key(std::string_view text) {
  const ErrorQueueGuard errors;
  const auto bytes = base64_decode(text.substr(kPublicPrefix.size()));
  if (!bytes || bytes->size() != kEd25519Bytes) {
    return invalid(fmt::format("a whpk_ key must be base64 of {} bytes", kEd25519Bytes));
  }
  PkeyPtr key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                          reinterpret_cast<const unsigned char*>(bytes->data()),
                                          bytes->size()));
  if (!key) return invalid("a whpk_ key is no key of Ed25519");
  return key;
}

bool verify_ed25519(EVP_PKEY* key, std::string_view bytes, std::string_view signature) {
  const ErrorQueueGuard errors;
  const DigestContextPtr context(EVP_MD_CTX_new());
  if (!context || EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) != 1) {
    return false;
  }
  return EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                          bytes.size()) == 1;
}

std::string signed_bytes(std::string_view id, std::string_view timestamp, std::string_view body) {
  return fmt::format("{}.{}.{}", id, timestamp, body);
}

}  // namespace

struct WebhookKeys::Keys {
  std::vector<Secret<std::string>> secrets;
  std::vector<PkeyPtr> public_keys;

  bool fits(std::string_view version, std::string_view signature, std::string_view bytes) const {
    bool found = false;
    if (version == "v1") {
      // All of them, whichever fits: how long it takes says nothing about which.
      for (const auto& secret : secrets) {
        const auto expected = hmac_sha256(secret.reveal(), bytes);
        if (equal_in_constant_time(bytes_of(expected), signature)) found = true;
      }
    }
    if (version == "v1a") {
      found = std::ranges::any_of(public_keys, [&](const PkeyPtr& key) {
        return verify_ed25519(key.get(), bytes, signature);
      });
    }
    return found;
  }
};

Result<WebhookKeys> WebhookKeys::make(std::span<const Secret<std::string>> keys) {
  auto made = std::make_shared<Keys>();
  for (const auto& key : keys) {
    const std::string_view text = key.reveal();
    if (text.starts_with(kSecretPrefix)) {
      MR_TRY(auto secret, shared_secret(text));
      made->secrets.push_back(std::move(secret));
    } else if (text.starts_with(kPublicPrefix)) {
      MR_TRY(auto found, public_key(text));
      made->public_keys.push_back(std::move(found));
    } else {
      return invalid("a key of webhooks must begin with whsec_ or whpk_");
    }
  }
  if (keys.empty()) return invalid("there must be a key of webhooks");
  return WebhookKeys(std::move(made));
}

Result<void> WebhookKeys::verify(const WebhookHeaders& headers, std::string_view body,
                                 Clock::Wall now) const {
  if (headers.timestamp.empty()) return refuse(Refusal::missing, "webhook-timestamp is missing");
  if (headers.signature.empty()) return refuse(Refusal::missing, "webhook-signature is missing");
  // With a dot in the id, or a timestamp that is no number, two messages could be one signed text.
  MR_TRY_VOID(check_webhook_id(headers.id));
  const auto at = parse_unix_seconds(headers.timestamp);
  if (!at) return refuse(Refusal::malformed, "webhook-timestamp must be unix seconds");
  const auto bytes = signed_bytes(headers.id, headers.timestamp, body);
  bool fits = false;
  auto rest = headers.signature;
  for (std::size_t i = 0; i < kSignaturesMax && !rest.empty() && !fits; ++i) {
    const auto one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto comma = one.find(',');
    if (comma == one.npos) continue;
    const auto signature = base64_decode(one.substr(comma + 1));
    fits = signature && keys_->fits(one.substr(0, comma), *signature, bytes);
  }
  if (!fits) return refuse(Refusal::bad_signature, "no signature fits a key of ours");
  return check_webhook_time(*at, now);
}

Result<std::string> sign_webhook(const Secret<std::string>& key, std::string_view id,
                                 Clock::Wall at, std::string_view body) {
  if (!std::string_view(key.reveal()).starts_with(kSecretPrefix)) {
    return invalid("messages are signed with a whsec_ key");
  }
  MR_TRY(const auto secret, shared_secret(key.reveal()));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  const auto digest = hmac_sha256(secret.reveal(), signed_bytes(id, std::to_string(seconds), body));
  return "v1," + base64_encode(bytes_of(digest));
}

std::optional<std::chrono::sys_seconds> parse_unix_seconds(std::string_view text) {
  constexpr std::size_t kDigitsMax = 12;  // Until the year 33658.
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  std::int64_t seconds = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    seconds = seconds * 10 + (c - '0');
  }
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

Result<void> check_webhook_time(std::chrono::sys_seconds at, Clock::Wall now) {
  const auto here = std::chrono::floor<std::chrono::seconds>(now);
  const auto rule = fmt::format("more than {} s", kWebhookTolerance.count());
  if (here - at > kWebhookTolerance) {
    return refuse(Refusal::expired, fmt::format("the timestamp is {} old", rule));
  }
  if (at - here > kWebhookTolerance) {
    return refuse(Refusal::not_yet_valid, fmt::format("the timestamp is {} ahead", rule));
  }
  return ok();
}

Result<void> check_webhook_id(std::string_view id, bool dots) {
  if (id.empty()) return refuse(Refusal::missing, "the id of the webhook is missing");
  const bool fine = id.size() <= kWebhookIdMaxBytes && std::ranges::all_of(id, [&](char c) {
                      return c > ' ' && c < 0x7f && (dots || c != '.');
                    });
  if (!fine) {
    return refuse(Refusal::malformed,
                  fmt::format("the id of a webhook must be 1 to {} printable characters{}",
                              kWebhookIdMaxBytes, dots ? "" : " without a dot"));
  }
  return ok();
}

}  // namespace millrace::identity
