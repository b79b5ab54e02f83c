// Standard Webhooks: who sent a message, and when; checked over the bytes as they came.
//
//   webhook-id: msg_2KWP…        the same for every attempt to deliver one message
//   webhook-timestamp: 16142653  unix seconds of the attempt
//   webhook-signature: v1,<base64> v1,<base64> v1a,<base64>
//
// Signed is "id.timestamp.body". v1 is HMAC-SHA256 with a shared secret ("whsec_" and base64 of 24
// to 64 bytes), v1a is Ed25519 ("whpk_" and base64 of the public key). One signature that fits one
// of our keys is enough: a sender that changes its key signs with both for a while. The signature
// is looked at before the time: whoever has no key is told nothing about our clock.
//
// Threading: immutable, any thread. No part of a key or a signature gets into a message.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::identity {

inline constexpr std::chrono::seconds kWebhookTolerance{300};
inline constexpr std::size_t kWebhookIdMaxBytes = 256;

// Headers as they came; empty: not there.
struct WebhookHeaders {
  std::string_view id = {};
  std::string_view timestamp = {};
  std::string_view signature = {};
};

class WebhookKeys {
 public:
  // invalid_argument names the rule: at least one key, each of a known form and length.
  static Result<WebhookKeys> make(std::span<const Secret<std::string>> keys);

  // Refusals: missing (a header), malformed (id or time), bad_signature, expired and not_yet_valid
  // (more than kWebhookTolerance from `now`, either way).
  Result<void> verify(const WebhookHeaders& headers, std::string_view body, Clock::Wall now) const;

 private:
  struct Keys;
  explicit WebhookKeys(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {}
  std::shared_ptr<const Keys> keys_;  // Shared by copies: immutable.
};

// "v1,<base64>": how a sender signs with a shared secret. invalid_argument for a key that is none.
Result<std::string> sign_webhook(const Secret<std::string>& key, std::string_view id,
                                 Clock::Wall at, std::string_view body);

// Unix seconds, digits only; nothing for anything else.
std::optional<std::chrono::sys_seconds> parse_unix_seconds(std::string_view text);
// Refusals expired and not_yet_valid.
Result<void> check_webhook_time(std::chrono::sys_seconds at, Clock::Wall now);
// Refusals missing and malformed: 1 to 256 printable bytes without a blank. With `dots` it may have
// dots: where the id is not part of what is signed.
Result<void> check_webhook_id(std::string_view id, bool dots = false);

}  // namespace millrace::identity
