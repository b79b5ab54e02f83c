#include "identity/authenticator.h"

#include "identity/refusal.h"

#include <utility>

namespace millrace::identity {
namespace {

// The same words for a wrong secret, for no such key and for one that was not looked up: which ids
// exist is nobody's business.
std::unexpected<Error> unknown_key() {
  return refuse(Refusal::unknown_key, "the API key is not known here");
}

}  // namespace

std::optional<bool> KeyDirectory::remembers_revoked(const std::string&) { return std::nullopt; }

Authenticator::Authenticator(const TokenVerifier& verifier, KeyDirectory& directory,
                             const Clock& clock)
    : verifier_(verifier), directory_(directory), clock_(clock), verified_(clock) {}

Task<Caller> Authenticator::identify(Credentials credentials, Welcome welcome) const {
  if (credentials.empty()) {
    co_return refuse(Refusal::missing,
                     "send a token in the Authorization header or a key in the "
                     "apikey header");
  }
  std::optional<Caller> caller;
  if (credentials.api_key) {
    MR_CO_TRY(caller, co_await identify_text(credentials.api_key->reveal(), welcome));
  }
  if (credentials.bearer) {
    MR_CO_TRY(caller, co_await identify_text(credentials.bearer->reveal(), welcome));
  }
  co_return *std::move(caller);
}

std::shared_ptr<const Caller> Authenticator::recognise(const Credentials& credentials) const {
  if (credentials.api_key || !credentials.bearer) return nullptr;
  const auto& text = credentials.bearer->reveal();
  if (looks_like_api_key(text)) return nullptr;
  auto caller = verified_.find(sha256(text));
  if (!caller || caller->token_id.empty()) return caller;
  const auto revoked = directory_.remembers_revoked(caller->token_id);
  return revoked && !*revoked ? caller : nullptr;
}

Task<Caller> Authenticator::identify_text(std::string text, Welcome welcome) const {
  return looks_like_api_key(text) ? identify_api_key(std::move(text), welcome)
                                  : identify_token(std::move(text));
}

Task<Caller> Authenticator::identify_api_key(std::string text, Welcome welcome) const {
  MR_CO_TRY(const auto digest, parse_api_key(text));
  if (welcome == Welcome::known && !directory_.was_good_key(digest)) co_return unknown_key();
  MR_CO_TRY(const auto record, co_await directory_.find_api_key(digest));
  if (!record) co_return unknown_key();
  MR_CO_TRY(auto caller, caller_from_api_key(digest, *record, instant_of(clock_.wall())));
  directory_.note_good_key(digest, record->key_id);
  co_return caller;
}

Task<Caller> Authenticator::identify_token(std::string text) const {
  const auto digest = sha256(text);
  Caller caller;
  if (const auto known = verified_.find(digest)) {
    caller = *known;
  } else {
    MR_CO_TRY(caller, co_await verifier_.verify(std::move(text)));
    verified_.keep(digest, caller);
  }
  if (!caller.token_id.empty()) {
    MR_CO_TRY(const bool revoked, co_await directory_.is_token_revoked(caller.token_id));
    if (revoked) co_return refuse(Refusal::revoked, "the token was revoked");
  }
  co_return caller;
}

}  // namespace millrace::identity
