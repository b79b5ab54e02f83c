#include "identity/token_maker.h"

#include "identity/base64url.h"
#include "identity/digest.h"
#include "identity/refusal.h"
#include "identity/verify_key.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::identity {
namespace {

std::int64_t seconds_of(Instant time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

Result<void> check_spec(const TokenSpec& spec) {
  if (!is_database_role(spec.role)) {
    return invalid(fmt::format("the role {} gets an API key, not a token", to_string(spec.role)));
  }
  if (spec.ttl < std::chrono::seconds(1) || spec.ttl > kTokenTtlMax) {
    return invalid(fmt::format("a token lives 1 second to {} days",
                               std::chrono::floor<std::chrono::days>(kTokenTtlMax).count()));
  }
  if (spec.role == Role::authenticated && !spec.tenant && !spec.user) {
    return invalid("a token for the role authenticated needs a user, a tenant or both");
  }
  return ok();
}

}  // namespace

Result<TokenMaker> TokenMaker::make(Options options, const Clock& clock, Random& random) {
  MR_TRY_VOID(check_secret(options.secret));
  return TokenMaker(std::move(options), clock, random);
}

TokenMaker::TokenMaker(Options options, const Clock& clock, Random& random)
    : options_(std::move(options)), clock_(&clock), random_(&random) {}

Result<MadeToken> TokenMaker::make_token(const TokenSpec& spec) const {
  MR_TRY_VOID(check_spec(spec));
  const auto issued_at = std::chrono::floor<std::chrono::seconds>(instant_of(clock_->wall()));
  MadeToken made{.token_id = random_->uuid().to_string(),
                 .issued_at = issued_at,
                 .expires_at = issued_at + spec.ttl};

  json::Object header{{"alg", "HS256"}, {"typ", "JWT"}};
  if (options_.key_id) header["kid"] = *options_.key_id;

  json::Object claims;
  claims["iss"] = options_.issuer;
  if (options_.ref) claims["ref"] = *options_.ref;
  claims["role"] = std::string(to_string(spec.role));
  if (spec.role == Role::authenticated) claims["aud"] = options_.audience;
  if (spec.user) claims["sub"] = spec.user->to_string();
  if (spec.tenant) claims["app_metadata"] = json::Object{{"tenant_id", spec.tenant->to_string()}};
  claims["jti"] = made.token_id;
  claims["iat"] = seconds_of(made.issued_at);
  claims["exp"] = seconds_of(made.expires_at);

  auto token = base64url_encode(to_json(header)) + "." + base64url_encode(to_json(claims));
  const auto signature = hmac_sha256(options_.secret.reveal(), token);
  token += "." + base64url_encode(bytes_of(signature));
  made.token = Secret(std::move(token));
  return made;
}

}  // namespace millrace::identity
