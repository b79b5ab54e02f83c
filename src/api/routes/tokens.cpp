#include "api/routes/tokens.h"

#include "api/call.h"
#include "api/page.h"
#include "api/routes/path.h"
#include "api/wire_time.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

Result<CredentialSpec> read_spec(const Call& call) {
  CredentialSpec spec;
  MR_TRY(spec.role, identity::parse_role(*call.text("role")));
  if (const auto kind = call.text("kind")) {
    MR_TRY(spec.kind, parse_credential_kind(*kind));
  }
  spec.tenant = call.caller.tenant;  // Whoever is confined makes tokens that are.
  if (const auto tenant = call.text("tenant_id")) {
    MR_TRY(spec.tenant, TenantId::parse(*tenant));
  }
  if (const auto user = call.text("user_id")) {
    MR_TRY(spec.user, identity::UserId::parse(*user));
  }
  spec.name = call.text("name").value_or("");
  if (const auto* scopes = call.member("scopes")) {
    for (const auto& scope : scopes->as_array()) spec.scopes.emplace_back(scope.as_string());
  }
  if (const auto ttl = call.integer("ttl_seconds")) spec.ttl = std::chrono::seconds(*ttl);
  return spec;
}

Task<Reply> create_token(Call& call, store::TokenStore& tokens, const CredentialMaker& maker) {
  MR_CO_TRY(const auto spec, read_spec(call));
  MR_CO_TRY(const auto made, maker.make(spec));
  MR_CO_TRY(const auto id, co_await tokens.create_api_token(call.context(), made.record));
  json::Object out{{"token_id", id.to_string()},
                   {"token", made.text.reveal()},
                   {"role", identity::to_string(spec.role)},
                   {"kind", to_string(made.kind)},
                   {"expires_at", nullptr}};
  if (made.expires_at) out["expires_at"] = wire_time(*made.expires_at);
  co_return Reply::json(out, 201).with("Cache-Control", "no-store");
}

Task<Reply> list_tokens(Call& call, store::TokenStore& tokens) {
  MR_CO_TRY(const auto page, read_page(call, "tokens"));
  MR_CO_TRY(const auto before, uuid_key(page));
  MR_CO_TRY(const auto rows, co_await tokens.list_api_tokens(
                                 call.context(), {.before = before,
                                                  .limit = page.limit + 1,
                                                  .all = call.parameters.boolean("all")}));
  co_return cut_page("tokens", rows, page.limit, "token_id");
}

Task<Reply> revoke_token(Call& call, store::TokenStore& tokens) {
  MR_CO_TRY_VOID(co_await tokens.revoke_api_token(call.context(), call.parameters.required("id"),
                                                  std::nullopt));
  co_return Reply::empty();
}

}  // namespace

std::vector<Operation> token_operations(store::TokenStore& tokens, const CredentialMaker& maker) {
  const auto administer = Access::service(Capability::administer);
  std::vector<Operation> out;
  out.push_back(
      {.id = "tokens.create",
       .method = "POST",
       .path = "/api/v1/tokens",
       .tag = "Identity",
       .summary = "A token or API key; shown once",
       .access = administer,
       .body = RequestBody{.schema = "NewToken"},
       .answers = {{.status = 201, .description = "It.", .schema = "TokenCreated"}},
       .handler = [&tokens, &maker](Call& call) { return create_token(call, tokens, maker); }});
  out.push_back({.id = "tokens.list",
                 .method = "GET",
                 .path = "/api/v1/tokens",
                 .tag = "Identity",
                 .summary = "Tokens that were made, newest first",
                 .access = administer,
                 .parameters = {limit_parameter(),
                                cursor_parameter(),
                                {.name = "all",
                                 .description = "Also those that were revoked or have expired.",
                                 .schema = R"({"type":"boolean"})"}},
                 .answers = {{.status = 200, .description = "A page.", .schema = "TokenPage"}},
                 .handler = [&tokens](Call& call) { return list_tokens(call, tokens); }});
  out.push_back({.id = "tokens.revoke",
                 .method = "DELETE",
                 .path = "/api/v1/tokens/{id}",
                 .tag = "Identity",
                 .summary = "Refuse a token from now on",
                 .description = "Servers remember who a token stands for, for seconds.",
                 .access = administer,
                 .parameters = {id_parameter("The token's id, from the list.")},
                 .answers = {{.status = 204, .description = "It is refused."}},
                 .handler = [&tokens](Call& call) { return revoke_token(call, tokens); }});
  return out;
}

}  // namespace millrace::api
