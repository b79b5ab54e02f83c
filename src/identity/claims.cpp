#include "identity/claims.h"

#include "identity/compact_jws.h"
#include "identity/refusal.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kAudiencesMax = 64;
constexpr std::size_t kTextMaxBytes = 1024;  // Of the claims that we keep and show.

bool holds_nul(const json::Value& value) {
  if (const auto* text = value.if_string()) return std::string_view(*text).contains('\0');
  if (const auto* list = value.if_array()) return std::ranges::any_of(*list, holds_nul);
  if (const auto* object = value.if_object()) {
    return std::ranges::any_of(*object, [](const auto& member) {
      return std::string_view(member.key()).contains('\0') || holds_nul(member.value());
    });
  }
  return false;
}

Result<std::optional<std::string>> read_text(const json::Object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_string() || value->get_string().size() > kTextMaxBytes) {
    return refuse(
        Refusal::bad_claims,
        fmt::format("the claim \"{}\" must be a string of at most {} bytes", name, kTextMaxBytes));
  }
  return std::string(value->get_string());
}

// NumericDate of RFC 7519: seconds, with a fraction or not. Anything past the year 9999 is no date.
Result<std::optional<Instant>> read_time(const json::Object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr) return std::nullopt;
  const auto latest = std::chrono::floor<std::chrono::seconds>(kInstantMax).time_since_epoch();
  if (const auto* whole = value->if_int64(); whole != nullptr && *whole >= 0) {
    if (*whole <= latest.count()) return Instant(std::chrono::seconds(*whole));
  } else if (const auto* real = value->if_double(); real != nullptr && *real >= 0) {
    if (*real <= static_cast<double>(latest.count())) {
      return Instant(std::chrono::milliseconds(std::llround(std::floor(*real * 1000))));
    }
  }
  return refuse(
      Refusal::bad_claims,
      fmt::format("the claim \"{}\" must be a number of seconds between 1970 and 9999", name));
}

Result<std::optional<std::vector<std::string>>> read_audiences(const json::Object& claims) {
  const auto* value = claims.if_contains("aud");
  if (value == nullptr || value->is_null()) return std::nullopt;
  std::vector<std::string> audiences;
  bool good = true;
  if (const auto* text = value->if_string()) {
    audiences.emplace_back(*text);
  } else if (const auto* list = value->if_array();
             list != nullptr && list->size() <= kAudiencesMax) {
    for (const auto& element : *list) {
      good = good && element.is_string();
      if (element.is_string()) audiences.emplace_back(element.get_string());
    }
  } else {
    good = false;
  }
  if (!good) {
    return refuse(
        Refusal::bad_claims,
        fmt::format("the claim \"aud\" must be a string or at most {} strings", kAudiencesMax));
  }
  return audiences;
}

Result<void> check_times(const Claims& claims, std::chrono::seconds leeway, Instant now) {
  if (!claims.expires_at) {
    return refuse(Refusal::bad_claims, "the token must say in \"exp\" when it expires");
  }
  if (now >= *claims.expires_at + leeway) return refuse(Refusal::expired, "the token has expired");
  if (claims.not_before && now + leeway < *claims.not_before) {
    return refuse(Refusal::not_yet_valid, "the token is not valid yet");
  }
  if (claims.issued_at && now + leeway < *claims.issued_at) {
    return refuse(Refusal::not_yet_valid, "the token was issued in the future");
  }
  return ok();
}

}  // namespace

Instant instant_of(Clock::Wall time) { return std::chrono::floor<std::chrono::milliseconds>(time); }

Result<Claims> parse_claims(std::string_view payload) {
  auto parsed = parse_json_object(payload, {.max_bytes = kTokenMaxBytes, .max_depth = kDepthMax});
  if (!parsed) {
    return refuse(Refusal::bad_claims,
                  fmt::format("the token's payload must be a JSON object, at most {} levels deep, "
                              "with every name once",
                              kDepthMax));
  }
  if (holds_nul(*parsed)) {
    return refuse(Refusal::bad_claims, "the token's claims must not contain the character NUL");
  }
  Claims claims;
  MR_TRY(claims.issuer, read_text(*parsed, "iss"));
  MR_TRY(claims.subject, read_text(*parsed, "sub"));
  MR_TRY(claims.token_id, read_text(*parsed, "jti"));
  MR_TRY(claims.role, read_text(*parsed, "role"));
  MR_TRY(claims.audiences, read_audiences(*parsed));
  MR_TRY(claims.expires_at, read_time(*parsed, "exp"));
  MR_TRY(claims.not_before, read_time(*parsed, "nbf"));
  MR_TRY(claims.issued_at, read_time(*parsed, "iat"));
  claims.all = *std::move(parsed);
  return claims;
}

Result<void> check_rules(const TokenRules& rules) {
  if (rules.leeway < std::chrono::seconds(0) || rules.leeway > kLeewayMax) {
    return invalid(
        fmt::format("the leeway for token times must be 0 to {} seconds", kLeewayMax.count()));
  }
  if (rules.audience_required && rules.audiences.empty()) {
    return invalid("an audience is required of tokens, but none is configured");
  }
  for (const auto role : rules.roles) {
    if (is_database_role(role)) continue;
    return invalid(fmt::format("tokens cannot carry the role {}; it comes with API keys only",
                               to_string(role)));
  }
  return ok();
}

Result<void> check_claims(const Claims& claims, const TokenRules& rules, Instant now) {
  MR_TRY_VOID(check_times(claims, rules.leeway, now));
  if (!rules.issuers.empty()) {
    const bool trusted =
        claims.issuer && std::ranges::find(rules.issuers, *claims.issuer) != rules.issuers.end();
    if (!trusted) return refuse(Refusal::wrong_issuer, "the token's issuer is not trusted here");
  }
  if (rules.audiences.empty()) return ok();
  if (!claims.audiences) {
    if (!rules.audience_required) return ok();
    return refuse(Refusal::wrong_audience, "the token must name its audience in \"aud\"");
  }
  if (std::ranges::find_first_of(rules.audiences, *claims.audiences) == rules.audiences.end()) {
    return refuse(Refusal::wrong_audience, "the token is for another audience");
  }
  return ok();
}

}  // namespace millrace::identity
