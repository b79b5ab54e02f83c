#include "identity/token_verifier.h"

#include "identity/refusal.h"

#include <algorithm>
#include <utility>

namespace millrace::identity {
namespace {

bool fits(const KeySet::Selection& selection, const CompactJws& token) {
  return std::ranges::any_of(selection.keys, [&](const VerifyKey* key) {
    return key->verify(token.signing_input, token.signature);
  });
}

// Why no key of a selection fits, in the words of the token's owner.
std::unexpected<Error> no_key_fits(const KeySet::Selection& selection) {
  if (!selection.keys.empty()) {
    return refuse(Refusal::bad_signature, "the token's signature is wrong");
  }
  if (selection.key_id_known) {
    return refuse(Refusal::unsupported, "the token's key is for another algorithm");
  }
  return refuse(Refusal::unknown_key, "the token is signed with a key that is not known here");
}

}  // namespace

Result<TokenVerifier> TokenVerifier::make(Options options, const Clock& clock) {
  if (options.keys.empty() && options.jwks == nullptr) {
    return invalid(
        "no token can be checked: configure a signing secret, a public key or the URL of a "
        "key set");
  }
  MR_TRY_VOID(check_rules(options.key_rules));
  MR_TRY_VOID(check_rules(options.jwks_rules));
  if (options.jwks != nullptr && !options.jwks_rules.audience_required) {
    return invalid(
        "tokens checked by a key set must be required to name an audience: the issuer makes "
        "tokens for others too");
  }
  return TokenVerifier(std::move(options), clock);
}

TokenVerifier::TokenVerifier(Options options, const Clock& clock)
    : options_(std::move(options)), clock_(&clock) {}

Task<Caller> TokenVerifier::verify(std::string token) const {
  MR_CO_TRY(auto parsed, parse_compact_jws(token));
  const auto own = options_.keys.select(parsed.algorithm, parsed.key_id);
  if (fits(own, parsed)) co_return admit(parsed, options_.key_rules);
  // A key id that is ours belongs to nobody else.
  const bool ours = own.key_id_known || parsed.algorithm == Algorithm::hs256;
  if (ours || options_.jwks == nullptr) co_return no_key_fits(own);
  MR_CO_TRY_VOID(co_await check_by_issuer(parsed));
  co_return admit(parsed, options_.jwks_rules);
}

Task<void> TokenVerifier::check_by_issuer(CompactJws token) const {
  MR_CO_TRY(auto keys, co_await options_.jwks->keys());
  auto selection = keys->select(token.algorithm, token.key_id);
  if (fits(selection, token)) co_return ok();
  const bool may_be_newer = token.key_id && !selection.key_id_known;
  if (may_be_newer) {
    const auto seen = keys;
    MR_CO_TRY(keys, co_await options_.jwks->newer_keys(seen));
    if (keys != seen) {
      selection = keys->select(token.algorithm, token.key_id);
      if (fits(selection, token)) co_return ok();
    }
  }
  co_return no_key_fits(selection);
}

Result<Caller> TokenVerifier::admit(const CompactJws& token, const TokenRules& rules) const {
  MR_TRY(auto claims, parse_claims(token.payload));
  MR_TRY_VOID(check_claims(claims, rules, instant_of(clock_->wall())));
  return caller_from_claims(std::move(claims), rules);
}

}  // namespace millrace::identity
