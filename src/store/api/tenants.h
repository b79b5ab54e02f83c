// TenantStore: tenants and patient profiles. One call per SQL function, same names.
//
// Lists and single rows come as JSON text, ready to be sent. Every change is audited in the chain
// of the tenant it concerns. `wanted`: only while it is in one of these versions (MR040); a key
// keeps the answer with the effect. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "store/api/requests.h"
#include "store/api/session.h"
#include "store/api/versions.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::store {

// What an operator has decided about a tenant.
struct TenantRules {
  bool disabled = false;
  std::optional<std::int64_t> requests_per_minute;
};

// A list by id: what lies behind `after`, at most `limit`.
struct IdPage {
  std::optional<Uuid> after = {};
  int limit = 100;
};

class TenantStore {
 public:
  virtual ~TenantStore() = default;

  // `limits`: quota_bytes, quota_files, requests_per_minute. A repeat with the same id and name
  // finds its own success. The tenant, as get_tenant has it.
  virtual Task<std::string> create_tenant(CallContext caller, std::string name,
                                          std::optional<Uuid> id, json::Object limits,
                                          RequestKey key) = 0;
  virtual Task<std::string> list_tenants(CallContext caller, IdPage page) = 0;
  // not_found where there is no row.
  virtual Task<Versioned> get_tenant(CallContext caller, Uuid tenant) = 0;
  virtual Task<void> set_tenant_quota(CallContext caller, Uuid tenant, json::Object limits,
                                      WantedVersions wanted) = 0;
  virtual Task<void> disable_tenant(CallContext caller, Uuid tenant,
                                    std::optional<std::string> reason) = 0;
  virtual Task<void> enable_tenant(CallContext caller, Uuid tenant) = 0;
  // Of a tenant without a row: what holds for all.
  virtual Task<TenantRules> tenant_policy(TenantId tenant) = 0;

  // Profiles. A user makes and sees own ones; a service names the owner. The profile, as
  // get_profile has it.
  virtual Task<std::string> create_profile(CallContext caller, std::string name,
                                           std::optional<Uuid> owner, std::optional<Uuid> id,
                                           RequestKey key) = 0;
  virtual Task<std::string> list_profiles(CallContext caller, IdPage page,
                                          std::optional<Uuid> owner) = 0;
  virtual Task<Versioned> get_profile(CallContext caller, Uuid profile) = 0;
  virtual Task<void> rename_profile(CallContext caller, Uuid profile, std::string name,
                                    WantedVersions wanted) = 0;
  // With its files and their objects; live jobs of those are cancelled.
  virtual Task<void> delete_profile(CallContext caller, Uuid profile, WantedVersions wanted) = 0;
};

std::unique_ptr<TenantStore> make_tenant_store(ApiSession& session);

}  // namespace millrace::store
