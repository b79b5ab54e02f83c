#include "api/routes/tenants.h"

#include "api/call.h"
#include "api/page.h"
#include "api/raw_json.h"
#include "api/routes/handler_of.h"
#include "api/routes/path.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::TenantStore;

// The members of the body that are limits, as far as they were sent; null is a value here.
json::Object limits_of(const Call& call) {
  json::Object limits;
  for (const std::string_view name : {"quota_bytes", "quota_files", "requests_per_minute"}) {
    if (const auto* value = call.body.as_object().if_contains(name)) limits[name] = *value;
  }
  return limits;
}

// A row as the answer to its making, the first time and again.
Reply created(std::string effect, std::string_view list, std::string_view key) {
  const auto id = raw_member(effect, key).value_or("");
  auto location = fmt::format("{}/{}", list, id.size() > 2 ? id.substr(1, id.size() - 2) : id);
  return Reply::json_text(std::move(effect), 201).with("Location", std::move(location));
}

Reply tenant_created(std::string effect) {
  return created(std::move(effect), "/api/v1/tenants", "tenant_id");
}

Reply profile_created(std::string effect) {
  return created(std::move(effect), "/api/v1/profiles", "id");
}

Reply versioned(store::Versioned one) {
  return Reply::json_text(std::move(one.json)).in_version(std::move(one.version));
}

Task<Reply> create_tenant(Call& call, TenantStore& tenants) {
  std::optional<Uuid> id;
  if (const auto text = call.text("tenant_id")) {
    MR_CO_TRY(id, Uuid::parse(*text));
  }
  MR_CO_TRY(auto effect, co_await tenants.create_tenant(call.context(), *call.text("name"), id,
                                                        limits_of(call), call.request_key));
  co_return tenant_created(std::move(effect));
}

Task<Reply> list_tenants(Call& call, TenantStore& tenants) {
  MR_CO_TRY(const auto page, read_page(call, "tenants"));
  MR_CO_TRY(const auto after, uuid_key(page));
  MR_CO_TRY(const auto rows, co_await tenants.list_tenants(
                                 call.context(), {.after = after, .limit = page.limit + 1}));
  co_return cut_page("tenants", rows, page.limit, "tenant_id");
}

Task<Reply> get_tenant(Call& call, TenantStore& tenants) {
  MR_CO_TRY(auto tenant,
            co_await tenants.get_tenant(call.context(), call.parameters.id<TenantId>("id").value));
  co_return versioned(std::move(tenant));
}

Task<Reply> set_quota(Call& call, TenantStore& tenants) {
  const auto id = call.parameters.id<TenantId>("id").value;
  MR_CO_TRY_VOID(
      co_await tenants.set_tenant_quota(call.context(), id, limits_of(call), call.if_match));
  MR_CO_TRY(auto tenant, co_await tenants.get_tenant(call.context(), id));
  co_return versioned(std::move(tenant));
}

Task<Reply> switch_tenant(Call& call, TenantStore& tenants, bool disable) {
  const auto id = call.parameters.id<TenantId>("id").value;
  if (disable) {
    MR_CO_TRY_VOID(co_await tenants.disable_tenant(call.context(), id, call.text("reason")));
  } else {
    MR_CO_TRY_VOID(co_await tenants.enable_tenant(call.context(), id));
  }
  MR_CO_TRY(auto tenant, co_await tenants.get_tenant(call.context(), id));
  co_return versioned(std::move(tenant));
}

Task<Reply> create_profile(Call& call, TenantStore& tenants) {
  std::optional<Uuid> owner;
  std::optional<Uuid> id;
  if (const auto text = call.text("account_owner_id")) {
    MR_CO_TRY(owner, Uuid::parse(*text));
  }
  if (const auto text = call.text("id")) {
    MR_CO_TRY(id, Uuid::parse(*text));
  }
  MR_CO_TRY(auto effect, co_await tenants.create_profile(call.context(), *call.text("display_name"),
                                                         owner, id, call.request_key));
  co_return profile_created(std::move(effect));
}

Task<Reply> list_profiles(Call& call, TenantStore& tenants) {
  MR_CO_TRY(const auto page, read_page(call, "profiles"));
  MR_CO_TRY(const auto after, uuid_key(page));
  std::optional<Uuid> owner;
  if (const auto text = call.parameters.text("account_owner_id")) {
    MR_CO_TRY(owner, Uuid::parse(*text));
  }
  MR_CO_TRY(const auto rows, co_await tenants.list_profiles(
                                 call.context(), {.after = after, .limit = page.limit + 1}, owner));
  co_return cut_page("profiles", rows, page.limit, "id");
}

Task<Reply> get_profile(Call& call, TenantStore& tenants) {
  MR_CO_TRY(auto profile,
            co_await tenants.get_profile(call.context(), call.parameters.id<TenantId>("id").value));
  co_return versioned(std::move(profile));
}

Task<Reply> rename_profile(Call& call, TenantStore& tenants) {
  const auto id = call.parameters.id<TenantId>("id").value;
  MR_CO_TRY_VOID(co_await tenants.rename_profile(call.context(), id, *call.text("display_name"),
                                                 call.if_match));
  MR_CO_TRY(auto profile, co_await tenants.get_profile(call.context(), id));
  co_return versioned(std::move(profile));
}

Task<Reply> delete_profile(Call& call, TenantStore& tenants) {
  MR_CO_TRY_VOID(co_await tenants.delete_profile(
      call.context(), call.parameters.id<TenantId>("id").value, call.if_match));
  co_return Reply::empty();
}

}  // namespace

std::vector<Operation> tenant_operations(TenantStore& tenants) {
  const auto administer = Access::service(Capability::administer);
  const auto installation = Access::staff(Capability::administer);
  const std::vector<Answer> one = {
      {.status = 200, .description = "The tenant.", .schema = "Tenant"}};
  std::vector<Operation> out;
  out.push_back({.id = "tenants.create",
                 .method = "POST",
                 .path = "/api/v1/tenants",
                 .tag = "Tenants",
                 .summary = "Give a tenant a name and limits",
                 .access = installation,
                 .body = RequestBody{.schema = "NewTenant"},
                 .answers = {{.status = 201, .description = "The tenant.", .schema = "Tenant"}},
                 .idempotency_key = true,
                 .replay = tenant_created,
                 .handler = handler_of(create_tenant, tenants)});
  out.push_back({.id = "tenants.list",
                 .method = "GET",
                 .path = "/api/v1/tenants",
                 .tag = "Tenants",
                 .summary = "Tenants and what they store",
                 .access = administer,
                 .parameters = {limit_parameter(), cursor_parameter()},
                 .answers = {{.status = 200, .description = "A page.", .schema = "TenantPage"}},
                 .handler = handler_of(list_tenants, tenants)});
  out.push_back({.id = "tenants.get",
                 .method = "GET",
                 .path = "/api/v1/tenants/{id}",
                 .tag = "Tenants",
                 .summary = "One tenant",
                 .access = administer,
                 .parameters = {id_parameter("The tenant.")},
                 .answers = one,
                 .conditional = true,
                 .handler = handler_of(get_tenant, tenants)});
  out.push_back({.id = "tenants.quota",
                 .method = "PUT",
                 .path = "/api/v1/tenants/{id}/quota",
                 .tag = "Tenants",
                 .summary = "Change what a tenant may store and ask",
                 .access = installation,
                 .parameters = {id_parameter("The tenant.")},
                 .body = RequestBody{.schema = "TenantQuota"},
                 .answers = one,
                 .guards_change = true,
                 .handler = handler_of(set_quota, tenants)});
  for (const bool disable : {true, false}) {
    Operation operation{
        .id = disable ? "tenants.disable" : "tenants.enable",
        .method = "POST",
        .path = disable ? "/api/v1/tenants/{id}/disable" : "/api/v1/tenants/{id}/enable",
        .tag = "Tenants",
        .summary = disable ? "Refuse its requests; jobs go on" : "Take it back",
        .access = installation,
        .parameters = {id_parameter("The tenant.")},
        .answers = one,
        .handler = [&tenants, disable](Call& call) {
          return switch_tenant(call, tenants, disable);
        }};
    if (disable) operation.body = RequestBody{.schema = "ReasonBody", .required = false};
    out.push_back(std::move(operation));
  }
  return out;
}

std::vector<Operation> profile_operations(TenantStore& tenants) {
  const auto read = Access::people(Capability::read);
  const auto write = Access::people(Capability::write);
  const std::vector<Answer> one = {
      {.status = 200, .description = "The profile.", .schema = "Profile"}};
  std::vector<Operation> out;
  out.push_back({.id = "profiles.create",
                 .method = "POST",
                 .path = "/api/v1/profiles",
                 .tag = "Profiles",
                 .summary = "A patient profile",
                 .access = write,
                 .body = RequestBody{.schema = "NewProfile"},
                 .answers = {{.status = 201, .description = "The profile.", .schema = "Profile"}},
                 .idempotency_key = true,
                 .replay = profile_created,
                 .handler = handler_of(create_profile, tenants)});
  out.push_back({.id = "profiles.list",
                 .method = "GET",
                 .path = "/api/v1/profiles",
                 .tag = "Profiles",
                 .summary = "Profiles that the caller may see",
                 .access = read,
                 .parameters = {limit_parameter(),
                                cursor_parameter(),
                                {.name = "account_owner_id",
                                 .description = "Of this user only.",
                                 .schema = R"({"type":"string","format":"uuid"})"}},
                 .answers = {{.status = 200, .description = "A page.", .schema = "ProfilePage"}},
                 .handler = handler_of(list_profiles, tenants)});
  out.push_back({.id = "profiles.get",
                 .method = "GET",
                 .path = "/api/v1/profiles/{id}",
                 .tag = "Profiles",
                 .summary = "One profile",
                 .access = read,
                 .parameters = {id_parameter("The profile.")},
                 .answers = one,
                 .conditional = true,
                 .handler = handler_of(get_profile, tenants)});
  out.push_back({.id = "profiles.rename",
                 .method = "PATCH",
                 .path = "/api/v1/profiles/{id}",
                 .tag = "Profiles",
                 .summary = "Another name for it",
                 .access = write,
                 .parameters = {id_parameter("The profile.")},
                 .body = RequestBody{.schema = "ProfileName"},
                 .answers = one,
                 .guards_change = true,
                 .handler = handler_of(rename_profile, tenants)});
  out.push_back({.id = "profiles.delete",
                 .method = "DELETE",
                 .path = "/api/v1/profiles/{id}",
                 .tag = "Profiles",
                 .summary = "Remove it with its files; their live jobs are cancelled",
                 .access = write,
                 .parameters = {id_parameter("The profile.")},
                 .answers = {{.status = 204, .description = "It is gone."}},
                 .guards_change = true,
                 .handler = handler_of(delete_profile, tenants)});
  return out;
}

}  // namespace millrace::api
