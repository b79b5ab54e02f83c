#include "identity/credentials.h"

#include "http/message.h"
#include "identity/compact_jws.h"
#include "identity/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::identity {
namespace {

// token68 of RFC 9110 without its padding: all that tokens and keys are made of.
bool is_token_text(std::string_view text) {
  return !text.empty() && text.size() <= kTokenMaxBytes && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

Result<std::string_view> read_bearer(std::string_view authorization) {
  const auto blank = std::min(authorization.find(' '), authorization.size());
  if (!http::same_name(authorization.substr(0, blank), "Bearer")) {
    return refuse(Refusal::unsupported, "the Authorization header must be \"Bearer <token>\"");
  }
  auto token = authorization.substr(blank);
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  if (!is_token_text(token)) {
    return refuse(Refusal::malformed, fmt::format("the Authorization header must hold one token of "
                                                  "at most {} bytes",
                                                  kTokenMaxBytes));
  }
  return token;
}

bool is_new_key(std::string_view text) {
  return text.starts_with("sb_publishable_") || text.starts_with("sb_secret_");
}

}  // namespace

Result<Credentials> read_credentials(const CredentialHeaders& headers) {
  std::optional<std::string_view> bearer;
  if (headers.authorization) {
    MR_TRY(bearer, read_bearer(*headers.authorization));
  }
  const auto& apikey = headers.apikey;
  if (apikey && !is_token_text(*apikey)) {
    return refuse(Refusal::malformed, fmt::format("the apikey header must hold one key of at most "
                                                  "{} bytes",
                                                  kTokenMaxBytes));
  }
  if (apikey && bearer == apikey) bearer.reset();  // A client without a user says it twice.
  if (bearer && is_new_key(*bearer)) {
    return refuse(Refusal::misplaced, "keys that begin with sb_ belong into the apikey header");
  }
  if (apikey && apikey->starts_with("sb_secret_") &&
      headers.user_agent.value_or("").starts_with("Mozilla/")) {
    return refuse(Refusal::misplaced, "a secret key must not be used in a browser");
  }
  Credentials credentials;
  if (apikey) credentials.api_key.emplace(std::string(*apikey));
  if (bearer) credentials.bearer.emplace(std::string(*bearer));
  return credentials;
}

}  // namespace millrace::identity
