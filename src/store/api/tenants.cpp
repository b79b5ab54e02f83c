#include "store/api/tenants.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

class PgTenantStore final : public TenantStore {
 public:
  explicit PgTenantStore(ApiSession& session) : session_(session) {}

  Task<std::string> create_tenant(CallContext caller, std::string name, std::optional<Uuid> id,
                                  json::Object limits, RequestKey key) override {
    auto params = key_params(key);
    params.add(name).add(id).add_json(limits);
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_tenant_write"), Access::write,
        kept_effect("mr_api_create_tenant", "select millrace.create_tenant_row($4, $5, $6)",
                    std::move(params)));
  }

  Task<std::string> list_tenants(CallContext caller, IdPage page) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_tenant_read"), Access::read,
        rows_as_json("mr_api_list_tenants", "select * from millrace.list_tenants($1, $2)",
                     pg::params(page.after, page.limit)));
  }

  Task<Versioned> get_tenant(CallContext caller, Uuid tenant) override {
    co_return co_await one(
        std::move(caller),
        {.sql = "select row_to_json(t)::text, millrace.version_of('tenant', t.tenant_id::text)"
                " from millrace.list_tenants(null, 1, $1) t",
         .params = pg::params(tenant),
         .name = "mr_api_get_tenant"},
        {.kind = ErrorKind::not_found,
         .message = fmt::format("tenant {} does not exist", tenant),
         .sqlstate = "MR034"});
  }

  Task<void> set_tenant_quota(CallContext caller, Uuid tenant, json::Object limits,
                              WantedVersions wanted) override {
    pg::Params params;
    params.add(tenant).add_json(limits);
    co_return co_await change(std::move(caller),
                              guarded_change("tenant", tenant.to_string(), wanted,
                                             {.sql = "select millrace.set_tenant_quota($1, $2)",
                                              .params = std::move(params)}));
  }

  Task<void> disable_tenant(CallContext caller, Uuid tenant,
                            std::optional<std::string> reason) override {
    co_return co_await change(std::move(caller),
                              guarded_change("tenant", tenant.to_string(), {},
                                             {.sql = "select millrace.disable_tenant($1, $2)",
                                              .params = pg::params(tenant, reason)}));
  }

  Task<void> enable_tenant(CallContext caller, Uuid tenant) override {
    co_return co_await change(
        std::move(caller),
        guarded_change("tenant", tenant.to_string(), {},
                       {.sql = "select millrace.enable_tenant($1)", .params = pg::params(tenant)}));
  }

  Task<TenantRules> tenant_policy(TenantId tenant) override {
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_tenant_policy"), Access::read,
                  {.sql = "select disabled, requests_per_minute from millrace.tenant_policy($1)",
                   .params = pg::params(tenant),
                   .name = "mr_api_tenant_policy"}));
    co_return TenantRules{.disabled = rows[0].boolean(0),
                          .requests_per_minute = rows[0].opt_i64(1)};
  }

  Task<std::string> create_profile(CallContext caller, std::string name, std::optional<Uuid> owner,
                                   std::optional<Uuid> id, RequestKey key) override {
    auto params = key_params(key);
    params.add(name).add(owner).add(id);
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_tenant_write"), Access::write,
        kept_effect("mr_api_create_profile", "select millrace.create_profile_row($4, $5, $6)",
                    std::move(params)));
  }

  Task<std::string> list_profiles(CallContext caller, IdPage page,
                                  std::optional<Uuid> owner) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_tenant_read"), Access::read,
        rows_as_json("mr_api_list_profiles",
                     "select * from millrace.list_profiles($1, $2, null, $3)",
                     pg::params(page.after, page.limit, owner)));
  }

  Task<Versioned> get_profile(CallContext caller, Uuid profile) override {
    co_return co_await one(
        std::move(caller),
        {.sql = "select row_to_json(t)::text, millrace.version_of('profile', t.id::text)"
                " from millrace.list_profiles(null, 1, $1) t",
         .params = pg::params(profile),
         .name = "mr_api_get_profile"},
        {.kind = ErrorKind::not_found,
         .message = fmt::format("profile {} does not exist", profile),
         .sqlstate = "MR036"});
  }

  Task<void> rename_profile(CallContext caller, Uuid profile, std::string name,
                            WantedVersions wanted) override {
    co_return co_await change(std::move(caller),
                              guarded_change("profile", profile.to_string(), wanted,
                                             {.sql = "select millrace.rename_profile($1, $2)",
                                              .params = pg::params(profile, name)}));
  }

  Task<void> delete_profile(CallContext caller, Uuid profile, WantedVersions wanted) override {
    co_return co_await change(std::move(caller),
                              guarded_change("profile", profile.to_string(), wanted,
                                             {.sql = "select millrace.delete_profile($1)",
                                              .params = pg::params(profile)}));
  }

 private:
  // (JSON, version) of one thing.
  Task<Versioned> one(CallContext caller, pg::Statement statement, Error missing) {
    MR_CO_TRY(const auto rows, co_await session_.as(std::move(caller), MR_POINT("api_tenant_read"),
                                                    Access::read, std::move(statement)));
    if (rows.empty()) co_return fail(std::move(missing));
    co_return Versioned{.json = std::string(rows[0].text(0)),
                        .version = rows[0].opt_text(1).value_or("")};
  }

  Task<void> change(CallContext caller, std::vector<pg::Statement> statements) {
    MR_CO_TRY_VOID(co_await session_.as(std::move(caller), MR_POINT("api_tenant_write"),
                                        Access::write, std::move(statements)));
    co_return ok();
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<TenantStore> make_tenant_store(ApiSession& session) {
  return std::make_unique<PgTenantStore>(session);
}

}  // namespace millrace::store
