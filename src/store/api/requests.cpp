#include "store/api/requests.h"

#include "base/json.h"
#include "store/api/values.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::store {
namespace {

Result<RequestBegun> read_begun(const pg::Row& row) {
  using State = RequestBegun::State;
  RequestBegun begun;
  const auto answer = row.text("answer");
  begun.state = answer == "started"    ? State::started
                : answer == "running"  ? State::running
                : answer == "mismatch" ? State::mismatch
                                       : State::done;
  begun.token = row.opt_uuid("token");
  if (begun.state == State::running) {
    MR_TRY(const auto headers, parse_json_object(row.opt_text("headers").value_or("{}")));
    const auto* seconds = headers.if_contains("retry-after");
    if (seconds != nullptr && seconds->is_int64()) {
      begun.retry_after = std::chrono::seconds(seconds->get_int64());
    }
    return begun;
  }
  if (const auto status = row.opt_i64("status")) begun.answer.status = static_cast<int>(*status);
  begun.answer.headers_json = row.opt_text("headers").value_or("");
  begun.answer.effect_json = row.opt_text("effect").value_or("");
  if (const auto body = row.opt_text("body")) {
    MR_TRY(begun.answer.body, read_bytea_text(*body));
  }
  return begun;
}

class PgRequestStore final : public RequestStore {
 public:
  explicit PgRequestStore(ApiSession& session) : session_(session) {}

  Task<RequestBegun> begin_request(CallContext caller, std::string scope, std::string key,
                                   std::string fingerprint, RequestTimes times) override {
    pg::Params params;
    params.add(scope).add(key).add(bytea(fingerprint));
    params.add(std::chrono::microseconds(times.lease)).add(std::chrono::microseconds(times.keep));
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_request_begin"), Access::write,
                                   {.sql = "select answer, token, status, headers, body, effect"
                                           " from millrace.begin_request($1, $2, $3, $4, $5)",
                                    .params = std::move(params),
                                    .name = "mr_api_begin_request"}));
    co_return read_begun(rows[0]);
  }

  Task<void> finish_request(CallContext caller, RequestKey key, KeptAnswer answer) override {
    if (!key.keeps() || !answer.status) {
      co_return fail(ErrorKind::invalid_argument, "an answer is kept with a token and a status");
    }
    pg::Params params;
    params.add(key.scope).add(key.key).add(key.token).add(*answer.status);
    params.add(answer.headers_json.empty() ? std::string("{}") : answer.headers_json);
    params.add(bytea(answer.body));
    MR_CO_TRY_VOID(
        co_await session_.as(std::move(caller), MR_POINT("api_request_finish"), Access::write,
                             {.sql = "select millrace.finish_request($1, $2, $3, $4, $5, $6)",
                              .params = std::move(params),
                              .name = "mr_api_finish_request"}));
    co_return ok();
  }

  Task<void> release_request(CallContext caller, RequestKey key) override {
    MR_CO_TRY_VOID(co_await session_.as(std::move(caller), MR_POINT("api_request_release"),
                                        Access::write,
                                        {.sql = "select millrace.release_request($1, $2, $3)",
                                         .params = pg::params(key.scope, key.key, key.token),
                                         .name = "mr_api_release_request"}));
    co_return ok();
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<RequestStore> make_request_store(ApiSession& session) {
  return std::make_unique<PgRequestStore>(session);
}

pg::Params key_params(const RequestKey& key) { return pg::params(key.scope, key.key, key.token); }

pg::Statement kept_effect(std::string name, std::string_view effect, pg::Params params) {
  return {.sql = fmt::format("select millrace.keep_effect($1, $2, $3, ({}))::text", effect),
          .params = std::move(params),
          .name = std::move(name)};
}

}  // namespace millrace::store
