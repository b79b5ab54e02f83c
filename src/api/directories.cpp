#include "api/directories.h"

#include "identity/refusal.h"

#include <algorithm>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::size_t kUsedMax = 10'000;
constexpr std::string_view kById = "id:";
constexpr std::string_view kByHash = "hash:";

Result<identity::ApiKeyRecord> record_of(const store::ApiTokenRow& row) {
  identity::ApiKeyRecord record;
  record.key_id = row.token_id.to_string();
  record.hash = row.hash;
  MR_TRY(record.role, identity::parse_role(row.role));
  record.tenant = row.tenant;
  if (row.user) record.user = identity::UserId{*row.user};
  record.scopes = row.scopes;
  if (row.expires_at) record.expires_at = identity::instant_of(*row.expires_at);
  record.revoked = row.revoked;
  return record;
}

std::string name_of(const identity::ApiKeyDigest& key) {
  if (!key.public_id.empty()) return std::string(kById) + key.public_id;
  return std::string(kByHash) + std::string(identity::bytes_of(key.hash));
}

// From the key of the cache back to the question. not_found is an answer that the cache does not
// keep.
Task<identity::ApiKeyRecord> ask(store::TokenStore& tokens, std::string key) {
  std::string public_id;
  store::TokenHash hash{};
  if (key.starts_with(kById)) {
    public_id = key.substr(kById.size());
  } else {
    std::copy_n(key.begin() + static_cast<std::ptrdiff_t>(kByHash.size()), hash.size(),
                reinterpret_cast<char*>(hash.data()));
  }
  MR_CO_TRY(const auto row, co_await tokens.find_api_token(std::move(public_id), hash));
  if (!row) co_return fail(ErrorKind::not_found, "there is no such API key");
  co_return record_of(*row);
}

Task<TenantPolicy> ask_policy(store::TenantStore& tenants, TenantId tenant) {
  MR_CO_TRY(const auto rules, co_await tenants.tenant_policy(tenant));
  TenantPolicy policy{.disabled = rules.disabled};
  if (rules.requests_per_minute) {
    policy.requests_per_minute = static_cast<std::uint64_t>(*rules.requests_per_minute);
  }
  co_return policy;
}

}  // namespace

StoredKeys::StoredKeys(store::TokenStore& tokens, const Clock& clock)
    : keys_(clock, {.ttl = kDirectoryMemory},
            [&tokens](std::string key) { return ask(tokens, std::move(key)); }),
      unknown_(clock, {.ttl = kDirectoryMemory}),
      good_(clock, {.ttl = kGoodKeyMemory, .names_max = 100'000}),
      revoked_(clock, {.ttl = kDirectoryMemory, .entries_max = 100'000},
               [&tokens](std::string id) { return tokens.is_token_revoked(std::move(id)); }) {}

Task<std::optional<identity::ApiKeyRecord>> StoredKeys::find_api_key(identity::ApiKeyDigest key) {
  const auto name = name_of(key);
  if (unknown_.holds(name)) co_return std::nullopt;
  auto record = co_await keys_.get(name);
  if (record) co_return *std::move(record);
  if (record.error().kind != ErrorKind::not_found) co_return fail(std::move(record).error());
  unknown_.note(name);
  co_return std::nullopt;
}

void StoredKeys::note_good_key(const identity::ApiKeyDigest& key, const std::string& key_id) {
  good_.note(name_of(key));
  note_used(key_id);
}

bool StoredKeys::was_good_key(const identity::ApiKeyDigest& key) const {
  return good_.holds(name_of(key));
}

Task<bool> StoredKeys::is_token_revoked(std::string token_id) {
  note_used(token_id);
  return revoked_.get(std::move(token_id));
}

std::optional<bool> StoredKeys::remembers_revoked(const std::string& token_id) {
  note_used(token_id);
  return revoked_.known(token_id);
}

void StoredKeys::note_used(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (used_.size() < kUsedMax) used_.insert(id);
}

std::vector<std::string> StoredKeys::take_used() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out(used_.begin(), used_.end());
  used_.clear();
  return out;
}

StoredPolicies::StoredPolicies(store::TenantStore& tenants, const Clock& clock)
    : policies_(clock, {.ttl = kDirectoryMemory},
                [&tenants](TenantId tenant) { return ask_policy(tenants, tenant); }) {}

}  // namespace millrace::api
