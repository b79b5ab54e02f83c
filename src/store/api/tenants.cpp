#include "store/api/tenants.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

class PgTenantStore final : public TenantStore {
 public:
  explicit PgTenantStore(ApiSession& session) : session_(session) {}

  Task<Uuid> create_tenant(CallContext caller, std::string name, std::optional<Uuid> id,
                           json::Object limits) override {
    pg::Params params;
    params.add(name).add(id).add_json(limits);
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_tenant_write"), Access::write,
                                   {.sql = "select millrace.create_tenant($1, $2, $3)",
                                    .params = std::move(params),
                                    .name = "mr_api_create_tenant"}));
    co_return rows[0].uuid(0);
  }

  Task<std::string> list_tenants(CallContext caller, IdPage page) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_tenant_read"), Access::read,
        rows_as_json("mr_api_list_tenants", "select * from millrace.list_tenants($1, $2)",
                     pg::params(page.after, page.limit)));
  }

  Task<std::string> get_tenant(CallContext caller, Uuid tenant) override {
    MR_CO_TRY(auto text,
              co_await session_.text_as(
                  std::move(caller), MR_POINT("api_tenant_read"), Access::read,
                  {.sql = "select row_to_json(t)::text from millrace.list_tenants(null, 1, $1) t",
                   .params = pg::params(tenant),
                   .name = "mr_api_get_tenant"}));
    if (text.empty()) co_return fail(no_tenant(tenant));
    co_return text;
  }

  Task<void> set_tenant_quota(CallContext caller, Uuid tenant, json::Object limits) override {
    pg::Params params;
    params.add(tenant).add_json(limits);
    co_return co_await write(std::move(caller), "select millrace.set_tenant_quota($1, $2)",
                             std::move(params));
  }

  Task<void> disable_tenant(CallContext caller, Uuid tenant,
                            std::optional<std::string> reason) override {
    co_return co_await write(std::move(caller), "select millrace.disable_tenant($1, $2)",
                             pg::params(tenant, reason));
  }

  Task<void> enable_tenant(CallContext caller, Uuid tenant) override {
    co_return co_await write(std::move(caller), "select millrace.enable_tenant($1)",
                             pg::params(tenant));
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

  Task<Uuid> create_profile(CallContext caller, std::string name, std::optional<Uuid> owner,
                            std::optional<Uuid> id) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_tenant_write"), Access::write,
                                   {.sql = "select millrace.create_profile($1, $2, $3)",
                                    .params = pg::params(name, owner, id),
                                    .name = "mr_api_create_profile"}));
    co_return rows[0].uuid(0);
  }

  Task<std::string> list_profiles(CallContext caller, IdPage page,
                                  std::optional<Uuid> owner) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_tenant_read"), Access::read,
        rows_as_json("mr_api_list_profiles",
                     "select * from millrace.list_profiles($1, $2, null, $3)",
                     pg::params(page.after, page.limit, owner)));
  }

  Task<std::string> get_profile(CallContext caller, Uuid profile) override {
    MR_CO_TRY(auto text,
              co_await session_.text_as(
                  std::move(caller), MR_POINT("api_tenant_read"), Access::read,
                  {.sql = "select row_to_json(t)::text from millrace.list_profiles(null, 1, $1) t",
                   .params = pg::params(profile),
                   .name = "mr_api_get_profile"}));
    if (text.empty()) {
      co_return fail(Error{.kind = ErrorKind::not_found,
                           .message = fmt::format("profile {} does not exist", profile),
                           .sqlstate = "MR036"});
    }
    co_return text;
  }

  Task<void> rename_profile(CallContext caller, Uuid profile, std::string name) override {
    co_return co_await write(std::move(caller), "select millrace.rename_profile($1, $2)",
                             pg::params(profile, name));
  }

  Task<void> delete_profile(CallContext caller, Uuid profile) override {
    co_return co_await write(std::move(caller), "select millrace.delete_profile($1)",
                             pg::params(profile));
  }

 private:
  static Error no_tenant(const Uuid& tenant) {
    return {.kind = ErrorKind::not_found,
            .message = fmt::format("tenant {} does not exist", tenant),
            .sqlstate = "MR034"};
  }

  Task<void> write(CallContext caller, std::string sql, pg::Params params) {
    MR_CO_TRY_VOID(co_await session_.as(std::move(caller), MR_POINT("api_tenant_write"),
                                        Access::write,
                                        {.sql = std::move(sql), .params = std::move(params)}));
    co_return ok();
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<TenantStore> make_tenant_store(ApiSession& session) {
  return std::make_unique<PgTenantStore>(session);
}

}  // namespace millrace::store
