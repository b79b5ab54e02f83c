#include "base/clock.h"
#include "base/json.h"
#include "fuzz/targets.h"
#include "identity/api_key.h"
#include "identity/base64url.h"
#include "identity/caller.h"
#include "identity/compact_jws.h"
#include "identity/credentials.h"
#include "identity/digest.h"
#include "identity/freshness.h"
#include "identity/key_set.h"
#include "identity/refusal.h"
#include "identity/ticket.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::fuzz {
namespace {

// Says no in words, on one line, with a reason that programs understand.
void check_refused(const Error& error) {
  check_told(error);
  property(identity::refusal_of(error).has_value(), "a refusal says which it is", error.message);
}

// As millrace.claimed_tenant() reads the claims.
std::optional<TenantId> claimed_tenant(const json::Object& claims) {
  const auto uuid_at = [](const json::Object& object, const char* name) -> std::optional<TenantId> {
    const auto* value = object.if_contains(name);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    const auto parsed = TenantId::parse(value->get_string());
    return parsed ? std::optional(*parsed) : std::nullopt;
  };
  const auto* metadata = claims.if_contains("app_metadata");
  if (metadata != nullptr && metadata->is_object()) {
    if (const auto tenant = uuid_at(metadata->get_object(), "tenant_id")) return tenant;
  }
  if (const auto tenant = uuid_at(claims, "tenant_id")) return tenant;
  return uuid_at(claims, "sub");
}

// What a token may say when its signature is right.
void check_payload(std::string_view payload) {
  using namespace identity;
  const TokenRules rules;
  auto claims = parse_claims(payload);
  if (!claims) return check_refused(claims.error());
  for (const auto& time : {claims->expires_at, claims->not_before, claims->issued_at}) {
    if (time) property(*time >= Instant() && *time <= kInstantMax, "a time is a time", payload);
  }
  for (const auto now : {Instant(), kInstantMax}) {
    const auto checked = check_claims(*claims, rules, now);
    if (!checked) check_refused(checked.error());
  }
  const auto caller = caller_from_claims(*std::move(claims), rules);
  if (!caller) return check_refused(caller.error());
  property(is_database_role(caller->role), "a token gives roles of the database only", payload);
  const bool person = caller->role != Role::service_role;
  property(!person || caller->tenant.has_value(), "a person is confined to a tenant", payload);
  property((caller->capabilities & capabilities_of(caller->role)) == caller->capabilities,
           "nobody may more than the role", payload);
  const auto told = caller->claims_json();
  const auto read = parse_json_object(told);
  property(read.has_value(), "the database can read the claims", told);
  property(std::string_view(read->at("role").get_string()) == to_string(caller->role),
           "and the role is the one that counts", told);
  const auto tenant = claimed_tenant(*read);
  property(
      tenant.has_value() || !person ? caller->tenant == tenant : caller->tenant == kNobodysTenant,
      "the database sees the same tenant", told);
  property(!told.contains("\\u0000"), "PostgreSQL can hold them", told);
}

}  // namespace

// Lines: header and payload as texts, then the signature; and the whole as a token of its own.
void fuzz_token(Input input) {
  using namespace identity;
  const auto whole = input;
  const auto check_parsed = [](std::string_view token) {
    const auto parsed = parse_compact_jws(token);
    if (!parsed) return check_refused(parsed.error());
    property(parsed->signing_input + "." + base64url_encode(parsed->signature) == token,
             "a token has one spelling", token);
    property(token.size() <= kTokenMaxBytes, "the limit of bytes holds");
    property(!parsed->signature.empty(), "nothing passes unsigned", token);
  };
  check_parsed(whole);
  const auto header = take_line(input);
  const auto payload = take_line(input);
  check_parsed(base64url_encode(header) + "." + base64url_encode(payload) + "." +
               base64url_encode(input));
  check_payload(payload);
  const auto decoded = base64url_decode(whole);
  if (decoded) property(base64url_encode(*decoded) == whole, "base64url has one spelling", whole);
  property(base64url_decode(base64url_encode(whole)) == whole, "base64url is read back", whole);
  check_linear(whole, [](std::string_view text) { static_cast<void>(parse_claims(text)); });
}

// A line of Cache-Control, then the key set.
void fuzz_jwks(Input input) {
  using namespace identity;
  const FreshnessBounds bounds;
  const auto fresh = freshness_of({{"Cache-Control", std::string(take_line(input))}}, bounds);
  property(fresh >= bounds.least && fresh <= bounds.most, "no set is fresh for ever");
  const auto set = KeySet::parse_jwks(input);
  if (!set) return check_told(set.error());
  property(set->size() + set->skipped().size() <= kKeySetMaxKeys, "a set has an end");
  for (const auto algorithm : {Algorithm::hs256, Algorithm::rs256, Algorithm::es256}) {
    for (const auto* key : set->select(algorithm, std::nullopt).keys) {
      property(key->algorithm() == algorithm, "a key is for its algorithm");
      property(algorithm != Algorithm::hs256, "no secret is published");
      property(!key->verify("input", std::string(64, '\x01')), "nothing fits by chance");
    }
  }
  check_linear(input, [](std::string_view text) { static_cast<void>(KeySet::parse_jwks(text)); });
}

// Lines: Authorization, apikey, User-Agent. The first is also a ticket, the second a key. A
// password stands where it says "~".
void fuzz_credentials(Input input) {
  using namespace identity;
  const auto filled = [](std::string_view line) {
    std::string text(line);
    if (const auto tilde = text.find('~'); tilde != text.npos) text.replace(tilde, 1, kSecret);
    return text;
  };
  const auto authorization = filled(take_line(input));
  const auto apikey = filled(take_line(input));
  const auto check_refused_quietly = [](const Error& error) {
    check_refused(error);
    property(!error.describe().contains(kSecret), "an error shows no credentials", error.message);
  };
  const auto read = read_credentials(
      {.authorization = authorization, .apikey = apikey, .user_agent = take_line(input)});
  if (!read) {
    check_refused_quietly(read.error());
  } else {
    property(!read->empty(), "what is given is not lost");
    property(!read->bearer || authorization.ends_with(read->bearer->reveal()), "as it was given");
  }
  const auto key = parse_api_key(apikey);
  property(key.has_value() ? looks_like_api_key(apikey) : true, "a key looks like one");
  if (!key) {
    check_refused_quietly(key.error());
  } else {
    property(key->hash == sha256(apikey), "the hash is of the whole text");
    property(key->display_prefix.size() + 11 <= apikey.size(), "most of a key is never shown");
    property(apikey.starts_with(key->display_prefix), "what is shown is how it begins");
  }
  static const ManualClock clock;
  static const auto maker = TicketMaker::make({Secret(std::string(32, 's'))}, clock);
  const auto ticket = maker->open_stream_ticket(authorization, apikey);
  property(!ticket.has_value(), "nobody guesses a ticket");
  check_refused_quietly(ticket.error());
}

}  // namespace millrace::fuzz
