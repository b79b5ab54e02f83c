// API keys: opaque credentials that a database row gives their meaning.
//
// Three forms. Our own `mr_<public id>_<secret>`: the id finds the row and may be shown, the secret
// has 256 random bits, and a checksum at its end tells a mistyped key from an unknown one without
// asking the database. Supabase's `sb_publishable_…` and `sb_secret_…`, ours or imported, are found
// by their hash. Only the SHA-256 of a key is stored: with that much chance in it, nothing slower
// is needed. Flow: parse_api_key on what a client sent; the directory finds the ApiKeyRecord;
// caller_from_api_key compares in constant time and makes the Caller. Threading: any.
#pragma once

#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "identity/caller.h"
#include "identity/digest.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::identity {

enum class ApiKeyForm { own, publishable, secret };

std::string_view to_string(ApiKeyForm form);

// What can be kept of a key: no part of its secret is in here.
struct ApiKeyDigest {
  ApiKeyForm form = ApiKeyForm::own;
  std::string public_id;       // "7k2m…" of our own form; empty otherwise.
  Digest hash{};               // SHA-256 of the whole text.
  std::string display_prefix;  // "mr_7k2m…", "sb_secret_N7UND": to recognise it in a list.
};

struct NewApiKey {
  Secret<std::string> text;  // Shown once.
  ApiKeyDigest digest;
};

NewApiKey create_api_key(ApiKeyForm form, Random& random);

// Says what it is by its first characters; a JWT is none.
bool looks_like_api_key(std::string_view text);
// malformed for a wrong length, alphabet or checksum.
Result<ApiKeyDigest> parse_api_key(std::string_view text);

// The row of a key, as the store keeps it.
struct ApiKeyRecord {
  std::string key_id;  // For audit and revocation.
  Digest hash{};
  Role role = Role::anon;
  std::optional<TenantId> tenant;
  std::optional<UserId> user;
  std::vector<std::string> scopes;  // Names of capabilities; empty: all of the role.
  std::optional<Instant> expires_at;
  bool revoked = false;
};

// Refusals: unknown_key (the hash differs), revoked, expired, bad_claims (the row makes no sense).
Result<Caller> caller_from_api_key(const ApiKeyDigest& presented, const ApiKeyRecord& record,
                                   Instant now);

}  // namespace millrace::identity
