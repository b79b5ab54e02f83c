// Claims: what a token says, read only after its signature was checked.
//
// Flow: TokenVerifier gives the payload to parse_claims and the result to check_claims with the
// rules of the issuer; caller_from_claims makes a Caller of it. Times are kept in milliseconds and
// never converted to nanoseconds: keys that end in 2286 are in use, and nanoseconds end in 2262.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "identity/role.h"

#include <boost/json/object.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::identity {

using Instant = std::chrono::sys_time<std::chrono::milliseconds>;

inline constexpr Instant kInstantMax{std::chrono::seconds(253'402'300'799)};  // Year 9999.

Instant instant_of(Clock::Wall time);

struct Claims {
  json::Object all;  // As signed.
  std::optional<std::string> issuer;
  std::optional<std::string> subject;
  std::optional<std::string> token_id;  // jti
  std::optional<std::string> role;
  std::optional<std::vector<std::string>> audiences;  // A single one is a list of one.
  std::optional<Instant> expires_at;
  std::optional<Instant> not_before;
  std::optional<Instant> issued_at;
};

// bad_claims when a claim has the wrong type, a time is no time, or a text holds a NUL (PostgreSQL
// cannot keep it).
Result<Claims> parse_claims(std::string_view payload);

inline constexpr std::chrono::seconds kLeewayMax{300};

// What one issuer's tokens must say.
struct TokenRules {
  std::vector<std::string> issuers;    // Empty: not judged.
  std::vector<std::string> audiences;  // Empty: not judged. A token without `aud` passes unless:
  bool audience_required = false;
  std::vector<Role> roles{Role::anon, Role::authenticated, Role::service_role};  // May be named.
  std::chrono::seconds leeway{30};  // By how much its clock and ours may differ.
};

// invalid_argument for rules that make no sense; for start-up.
Result<void> check_rules(const TokenRules& rules);

// Times, issuer and audience. `exp` must be there.
Result<void> check_claims(const Claims& claims, const TokenRules& rules, Instant now);

}  // namespace millrace::identity
