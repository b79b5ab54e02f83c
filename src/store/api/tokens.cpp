#include "store/api/tokens.h"

#include "store/api/values.h"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace millrace::store {
namespace {

Result<ApiTokenRow> read_row(const pg::Row& row) {
  ApiTokenRow token{.token_id = row.uuid("token_id"), .role = std::string(row.text("role"))};
  MR_TRY(const auto hash, read_bytea(row.text("hash")));
  if (hash.size() != token.hash.size()) {
    return fail(ErrorKind::internal, "a hash in api_token has another length than hashes have");
  }
  std::ranges::copy(hash, token.hash.begin());
  token.tenant = row.opt_id<TenantId>("tenant_id");
  token.user = row.opt_uuid("user_id");
  token.scopes = row.text_array("scopes");
  if (const auto micros = row.opt_i64("expires_us")) token.expires_at = wall_from_micros(*micros);
  token.revoked = row.boolean("revoked");
  return token;
}

class PgTokenStore final : public TokenStore {
 public:
  explicit PgTokenStore(ApiSession& session) : session_(session) {}

  Task<Uuid> create_api_token(CallContext caller, json::Object token) override {
    pg::Params params;
    params.add_json(token);
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_token_write"), Access::write,
                                   {.sql = "select millrace.create_api_token($1)",
                                    .params = std::move(params),
                                    .name = "mr_api_create_token"}));
    co_return rows[0].uuid(0);
  }

  Task<std::string> list_api_tokens(CallContext caller, TokenPage page) override {
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_token_read"), Access::read,
        rows_as_json("mr_api_list_tokens", "select * from millrace.list_api_tokens($1, $2, $3)",
                     pg::params(page.before, page.limit, page.all)));
  }

  Task<Uuid> revoke_api_token(CallContext caller, std::string token,
                              std::optional<std::string> reason) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_token_write"), Access::write,
                                   {.sql = "select millrace.revoke_api_token($1, $2)",
                                    .params = pg::params(token, reason),
                                    .name = "mr_api_revoke_token"}));
    co_return rows[0].uuid(0);
  }

  Task<std::optional<ApiTokenRow>> find_api_token(std::string public_id, TokenHash hash) override {
    pg::Params params;
    params.add(public_id.empty() ? std::optional<std::string>() : std::optional(public_id));
    params.add(bytea(hash));
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_token_find"), Access::read,
                  {.sql = "select token_id, hash, role, tenant_id, user_id, scopes, revoked,"
                          " (extract(epoch from expires_at) * 1000000)::bigint as expires_us"
                          " from millrace.find_api_token($1, $2)",
                   .params = std::move(params),
                   .name = "mr_api_find_token"}));
    if (rows.empty()) co_return std::optional<ApiTokenRow>();
    MR_CO_TRY(auto row, read_row(rows[0]));
    co_return std::optional(std::move(row));
  }

  Task<bool> is_token_revoked(std::string jti) override {
    MR_CO_TRY(const auto rows, co_await session_.own(MR_POINT("api_token_revoked"), Access::read,
                                                     {.sql = "select millrace.is_token_revoked($1)",
                                                      .params = pg::params(jti),
                                                      .name = "mr_api_token_revoked"}));
    co_return rows[0].boolean(0);
  }

  Task<void> touch_api_tokens(std::vector<std::string> tokens) override {
    pg::Params params;
    params.add_array(tokens);
    MR_CO_TRY_VOID(co_await session_.own(MR_POINT("api_token_touch"), Access::write,
                                         {.sql = "select millrace.touch_api_tokens($1)",
                                          .params = std::move(params),
                                          .name = "mr_api_touch_tokens"}));
    co_return ok();
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<TokenStore> make_token_store(ApiSession& session) {
  return std::make_unique<PgTokenStore>(session);
}

}  // namespace millrace::store
