#include "identity/api_key.h"

#include "base/assert.h"
#include "identity/base64url.h"
#include "identity/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::string_view kOwnPrefix = "mr_";
constexpr std::string_view kPublishablePrefix = "sb_publishable_";
constexpr std::string_view kSecretPrefix = "sb_secret_";

// Letters and digits only: a double click selects all of it.
constexpr std::string_view kIdAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kKeyAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kPublicIdChars = 16;
constexpr std::size_t kSecretChars = 43;  // 62^43 is just above 2^256.
constexpr std::size_t kChecksumChars = 6;
constexpr std::size_t kOwnBytes =
    kOwnPrefix.size() + kPublicIdChars + 1 + kSecretChars + kChecksumChars;

// The form Supabase gives its keys: 22 characters of chance, "_", 8 of a checksum. How the hosted
// service makes that checksum is not published, so imported keys are judged by their hash alone.
constexpr std::size_t kForeignChars = 22;
constexpr std::size_t kForeignChecksumChars = 8;
constexpr std::size_t kForeignMinChars = 16;
constexpr std::size_t kForeignMaxChars = 256;
constexpr std::size_t kForeignShownChars = 5;

std::string random_text(std::string_view alphabet, std::size_t size, Random& random) {
  std::string text;
  text.reserve(size);
  while (text.size() < size) text += alphabet[random.below(alphabet.size())];
  return text;
}

// CRC-32 of IEEE 802.3: finds every single typing mistake. It is no protection, only politeness.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ (0xedb88320U & (0U - (crc & 1U)));
  }
  return ~crc;
}

std::string checksum_of(std::string_view body) {
  std::string text(kChecksumChars, kKeyAlphabet.front());
  auto rest = crc32(body);
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    *place = kKeyAlphabet[rest % kKeyAlphabet.size()];
    rest /= static_cast<std::uint32_t>(kKeyAlphabet.size());
  }
  return text;
}

bool made_of(std::string_view text, std::string_view alphabet) {
  return text.find_first_not_of(alphabet) == text.npos;
}

bool is_base64url_text(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return kKeyAlphabet.contains(c) || c == '-' || c == '_'; });
}

std::string_view prefix_of(ApiKeyForm form) {
  switch (form) {
    case ApiKeyForm::own:
      return kOwnPrefix;
    case ApiKeyForm::publishable:
      return kPublishablePrefix;
    case ApiKeyForm::secret:
      return kSecretPrefix;
  }
  std::unreachable();
}

std::optional<ApiKeyForm> form_of(std::string_view text) {
  for (const auto form : {ApiKeyForm::own, ApiKeyForm::publishable, ApiKeyForm::secret}) {
    if (text.starts_with(prefix_of(form))) return form;
  }
  return std::nullopt;
}

Result<ApiKeyDigest> parse_own(std::string_view text) {
  const auto id = text.substr(kOwnPrefix.size(), kPublicIdChars);
  const auto body_size = kOwnBytes - kChecksumChars;
  const bool formed = text.size() == kOwnBytes && made_of(id, kIdAlphabet) &&
                      text[kOwnPrefix.size() + kPublicIdChars] == '_' &&
                      made_of(text.substr(kOwnPrefix.size() + kPublicIdChars + 1), kKeyAlphabet);
  if (!formed) return refuse(Refusal::malformed, "the API key is incomplete or mistyped");
  if (checksum_of(text.substr(0, body_size)) != text.substr(body_size)) {
    return refuse(Refusal::malformed, "the API key is mistyped: its checksum does not match");
  }
  return ApiKeyDigest{.form = ApiKeyForm::own,
                      .public_id = std::string(id),
                      .hash = sha256(text),
                      .display_prefix = std::string(kOwnPrefix) + std::string(id)};
}

Result<ApiKeyDigest> parse_foreign(std::string_view text, ApiKeyForm form) {
  const auto rest = text.substr(prefix_of(form).size());
  if (rest.size() < kForeignMinChars || rest.size() > kForeignMaxChars ||
      !is_base64url_text(rest)) {
    return refuse(Refusal::malformed, "the API key is incomplete or mistyped");
  }
  return ApiKeyDigest{.form = form,
                      .hash = sha256(text),
                      .display_prefix = std::string(prefix_of(form)) +
                                        std::string(rest.substr(0, kForeignShownChars))};
}

}  // namespace

std::string_view to_string(ApiKeyForm form) {
  switch (form) {
    case ApiKeyForm::own:
      return "own";
    case ApiKeyForm::publishable:
      return "publishable";
    case ApiKeyForm::secret:
      return "secret";
  }
  std::unreachable();
}

NewApiKey create_api_key(ApiKeyForm form, Random& random) {
  std::string text(prefix_of(form));
  if (form == ApiKeyForm::own) {
    text += random_text(kIdAlphabet, kPublicIdChars, random) + "_";
    text += random_text(kKeyAlphabet, kSecretChars, random);
    text += checksum_of(text);
  } else {
    text += random_text(kKeyAlphabet, kForeignChars, random);
    const auto hash = base64url_encode(bytes_of(sha256(text)));
    text += "_" + hash.substr(0, kForeignChecksumChars);
  }
  auto digest = parse_api_key(text);
  MR_ASSERT(digest.has_value());
  return {.text = Secret(std::move(text)), .digest = *std::move(digest)};
}

bool looks_like_api_key(std::string_view text) { return form_of(text).has_value(); }

Result<ApiKeyDigest> parse_api_key(std::string_view text) {
  const auto form = form_of(text);
  if (!form) {
    return refuse(Refusal::malformed, "an API key begins with mr_, sb_publishable_ or sb_secret_");
  }
  return *form == ApiKeyForm::own ? parse_own(text) : parse_foreign(text, *form);
}

Result<Caller> caller_from_api_key(const ApiKeyDigest& presented, const ApiKeyRecord& record,
                                   Instant now) {
  if (!equal_in_constant_time(bytes_of(presented.hash), bytes_of(record.hash))) {
    return refuse(Refusal::unknown_key, "the API key is not known here");
  }
  if (record.revoked) return refuse(Refusal::revoked, "the API key was revoked");
  if (record.expires_at && now >= *record.expires_at) {
    return refuse(Refusal::expired, "the API key has expired");
  }
  // Publishable keys stand in web pages: whatever the row says, they are nobody in particular.
  if (presented.form == ApiKeyForm::publishable && record.role != Role::anon) {
    return refuse(Refusal::bad_claims, "a publishable key can have the role anon only");
  }
  Caller caller{.role = record.role,
                .tenant = record.tenant,
                .user = record.user,
                .subject = record.user ? record.user->to_string() : "",
                .token_id = record.key_id,
                .scopes = record.scopes,
                .capabilities = capabilities_of(record.role),
                .expires_at = record.expires_at,
                .method = AuthMethod::api_key};
  const bool person = record.role == Role::anon || record.role == Role::authenticated;
  if (person && !caller.tenant) {
    caller.tenant = record.user ? TenantId{record.user->value} : kNobodysTenant;
  }
  if (!record.scopes.empty()) {
    CapabilitySet named;
    for (const auto& scope : record.scopes) {
      const auto capability = parse_capability(scope);
      if (!capability) return refuse(Refusal::bad_claims, "the API key has an unknown scope");
      named.add(*capability);
    }
    caller.capabilities = caller.capabilities & named;
  }
  caller.claims = claims_of(caller);
  return caller;
}

}  // namespace millrace::identity
