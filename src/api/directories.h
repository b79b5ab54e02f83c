// StoredKeys and StoredPolicies: what the guard asks for every request, from the database, with a
// short memory.
//
// API keys, revocations and tenant policies are remembered for kMemory; that is how long a revoked
// token may still pass on a server that has just used it. When the database is away, what is not
// remembered is not let in. Keys that do not exist are remembered apart from those that do: however
// many somebody invents, the good ones stay known. Threading: any. Lifetime: stores and clock
// outlive them.
#pragma once

#include "api/guard.h"
#include "api/keyed_cache.h"
#include "api/recent_names.h"
#include "base/clock.h"
#include "identity/authenticator.h"
#include "store/api/tenants.h"
#include "store/api/tokens.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace millrace::api {

inline constexpr std::chrono::milliseconds kDirectoryMemory{5000};
// For so long a key that was good is looked up even where strangers' are not.
inline constexpr std::chrono::hours kGoodKeyMemory{1};

class StoredKeys final : public identity::KeyDirectory {
 public:
  StoredKeys(store::TokenStore& tokens, const Clock& clock);

  Task<std::optional<identity::ApiKeyRecord>> find_api_key(identity::ApiKeyDigest key) override;
  Task<bool> is_token_revoked(std::string token_id) override;
  std::optional<bool> remembers_revoked(const std::string& token_id) override;
  void note_good_key(const identity::ApiKeyDigest& key, const std::string& key_id) override;
  bool was_good_key(const identity::ApiKeyDigest& key) const override;

  // The ids of credentials that were used since the last call, for touch_api_tokens: whoever keeps
  // the server running writes them down now and then.
  std::vector<std::string> take_used();

 private:
  void note_used(const std::string& id);

  // By public id, or by hash.
  KeyedCache<std::string, identity::ApiKeyRecord> keys_;
  RecentNames unknown_;
  RecentNames good_;
  KeyedCache<std::string, bool> revoked_;
  std::mutex mutex_;  // Guards used_.
  std::unordered_set<std::string> used_;
};

class StoredPolicies final : public TenantPolicies {
 public:
  StoredPolicies(store::TenantStore& tenants, const Clock& clock);

  Task<TenantPolicy> policy_of(TenantId tenant) override { return policies_.get(tenant); }
  std::optional<TenantPolicy> known_policy(const TenantId& tenant) override {
    return policies_.known(tenant);
  }

 private:
  KeyedCache<TenantId, TenantPolicy> policies_;
};

}  // namespace millrace::api
