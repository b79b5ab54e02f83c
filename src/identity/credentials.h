// Credentials: what a request's headers offer as proof of who is calling.
//
// Supabase's clients send a project key in `apikey` and a user's token in `Authorization`; without
// a user they send the key in both. New keys (sb_…) count in `apikey` only, or in both when equal;
// a secret one that comes from a browser has leaked and is refused.
#pragma once

#include "base/result.h"
#include "base/secret.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::identity {

// As they came; nothing where there is no such header.
struct CredentialHeaders {
  std::optional<std::string_view> authorization;
  std::optional<std::string_view> apikey;
  std::optional<std::string_view> user_agent;
};

struct Credentials {
  std::optional<Secret<std::string>> api_key;
  std::optional<Secret<std::string>> bearer;  // Decides who it is, where both are given.

  bool empty() const { return !api_key && !bearer; }
};

// Refusals: malformed, unsupported (another scheme), misplaced.
Result<Credentials> read_credentials(const CredentialHeaders& headers);

}  // namespace millrace::identity
