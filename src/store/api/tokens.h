// TokenStore: credentials that were handed out: API keys by their hash, JWTs by their jti.
//
// The credential itself never comes here. find_api_token and is_token_revoked are asked for every
// request whose answer the server does not remember; it remembers for seconds, and that is how fast
// a revocation takes effect. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "base/task.h"
#include "store/api/session.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

using TokenHash = std::array<std::uint8_t, 32>;

// What an API key stands for.
struct ApiTokenRow {
  Uuid token_id;
  TokenHash hash{};
  std::string role;
  std::optional<TenantId> tenant;  // Nothing: for all.
  std::optional<Uuid> user;
  std::vector<std::string> scopes;
  std::optional<Clock::Wall> expires_at;
  bool revoked = false;  // Or its tenant is disabled.
};

struct TokenPage {
  std::optional<Uuid> before = {};  // Newest first.
  int limit = 100;
  bool all = false;  // With those that are revoked or expired.
};

class TokenStore {
 public:
  virtual ~TokenStore() = default;

  // Fields as millrace.create_api_token takes them: kind, role, tenant_id, user_id, hash (hex),
  // public_id, jti, prefix, name, scopes, expires_at. A repeat finds its own success.
  virtual Task<Uuid> create_api_token(CallContext caller, json::Object token) = 0;
  virtual Task<std::string> list_api_tokens(CallContext caller, TokenPage page) = 0;
  // `token`: its id, or "jti:" and the jti of a JWT, known or not.
  virtual Task<Uuid> revoke_api_token(CallContext caller, std::string token,
                                      std::optional<std::string> reason) = 0;

  // By public_id where it is not empty, else by hash; nothing for an unknown key.
  virtual Task<std::optional<ApiTokenRow>> find_api_token(std::string public_id,
                                                          TokenHash hash) = 0;
  virtual Task<bool> is_token_revoked(std::string jti) = 0;
  // Ids of keys and jtis of JWTs that were used lately; kept to five minutes.
  virtual Task<void> touch_api_tokens(std::vector<std::string> tokens) = 0;
};

std::unique_ptr<TokenStore> make_token_store(ApiSession& session);

}  // namespace millrace::store
