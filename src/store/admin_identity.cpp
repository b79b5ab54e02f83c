// AdminStore: tenants and tokens.
#include "store/admin_store.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace millrace::store {

Result<void> AdminStore::check_client_roles() {
  MR_TRY(const auto result,
         call("select string_agg(w.role, ', ') as missing"
              " from unnest(array['anon', 'authenticated', 'service_role']) w(role)"
              " where not exists (select from pg_catalog.pg_roles r where r.rolname = w.role)",
              {}));
  const auto missing = result[0].opt_text("missing");
  if (!missing) return {};
  return fail(Error{.kind = ErrorKind::unavailable,
                    .message = "the database lacks the roles that clients act as: " + *missing,
                    .hint = "run 'millrace migrate up --create-client-roles'"});
}

Result<Uuid> AdminStore::create_tenant(const std::string& name, std::optional<Uuid> tenant,
                                       const json::Object& quota) {
  MR_TRY(const auto result, call("select millrace.create_tenant($1, $2, $3::jsonb) as tenant_id",
                                 pg::Params().add(name).add(tenant).add_json(quota)));
  return result[0].uuid("tenant_id");
}

Result<json::Array> AdminStore::list_tenants() {
  // In pages of the function's own limit; a thousand at a time.
  json::Array all;
  std::optional<Uuid> after;
  for (;;) {
    MR_TRY(auto page, rows("select t.* from millrace.list_tenants($1, 1000) t", pg::params(after)));
    for (auto& row : page) all.push_back(std::move(row));
    if (page.size() < 1000) return all;
    MR_TRY(after, Uuid::parse(all.back().at("tenant_id").as_string()));
  }
}

Result<void> AdminStore::disable_tenant(const Uuid& tenant, std::optional<std::string> reason) {
  MR_TRY_VOID(call("select millrace.disable_tenant($1, $2)", pg::params(tenant, reason)));
  return {};
}

Result<void> AdminStore::enable_tenant(const Uuid& tenant) {
  MR_TRY_VOID(call("select millrace.enable_tenant($1)", pg::params(tenant)));
  return {};
}

Result<void> AdminStore::set_tenant_quota(const Uuid& tenant, const json::Object& quota) {
  MR_TRY_VOID(call("select millrace.set_tenant_quota($1, $2::jsonb)",
                   pg::Params().add(tenant).add_json(quota)));
  return {};
}

Result<Uuid> AdminStore::create_api_token(const json::Object& token) {
  MR_TRY(const auto result, call("select millrace.create_api_token($1::jsonb) as token_id",
                                 pg::Params().add_json(token)));
  return result[0].uuid("token_id");
}

Result<json::Array> AdminStore::list_api_tokens(bool all) {
  return rows("select t.* from millrace.list_api_tokens(null, 1000, $1) t", pg::params(all));
}

Result<Uuid> AdminStore::revoke_api_token(const std::string& token,
                                          std::optional<std::string> reason) {
  MR_TRY(const auto result,
         call("select millrace.revoke_api_token($1, $2) as token_id", pg::params(token, reason)));
  return result[0].uuid("token_id");
}

}  // namespace millrace::store
