#include "store/api/webhooks.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

std::string result_json(const std::variant<StoredBlob, ParseFailed>& result) {
  if (const auto* failed = std::get_if<ParseFailed>(&result)) {
    return to_json(json::Object{{"failed", failed->reason}});
  }
  return R"({"blob":)" + stored_blob_json(std::get<StoredBlob>(result)) + "}";
}

Result<WebhookEffect> effect_of(std::string_view word) {
  if (word == "processed" || word == "woken") return WebhookEffect::done;
  if (word == "already") return WebhookEffect::already;
  if (word == "unknown") return WebhookEffect::unknown;
  return fail(ErrorKind::internal, "a webhook has an effect that is not known");
}

class PgWebhookStore final : public WebhookStore {
 public:
  explicit PgWebhookStore(ApiSession& session) : session_(session) {}

  Task<std::optional<std::string>> parse_awaited(JobId job) override {
    MR_CO_TRY(auto state, co_await session_.text_as(CallContext::server(),
                                                    MR_POINT("api_parse_awaited"), Access::read,
                                                    {.sql = "select millrace.parse_awaited($1)",
                                                     .params = pg::params(job),
                                                     .name = "mr_api_parse_awaited"}));
    if (state.empty()) co_return std::nullopt;
    co_return std::move(state);
  }

  Task<WebhookEffect> receive_parse(WebhookDelivery delivery,
                                    std::variant<StoredBlob, ParseFailed> result) override {
    pg::Params params;
    params.add(delivery.source).add(delivery.id).add(delivery.job).add(result_json(result));
    MR_CO_TRY(const auto word,
              co_await session_.text_as(CallContext::server(), MR_POINT("api_receive_parse"),
                                        Access::write,
                                        {.sql = "select millrace.receive_parse($1, $2, $3, $4)",
                                         .params = std::move(params),
                                         .name = "mr_api_receive_parse"}));
    co_return effect_of(word);
  }

  Task<WebhookEffect> wake_parse(std::string capability_sha256, std::string id) override {
    pg::Params params;
    params.add("\\x" + capability_sha256).add(id);
    MR_CO_TRY(const auto word, co_await session_.text_as(
                                   CallContext::server(), MR_POINT("api_wake_parse"), Access::write,
                                   {.sql = "select millrace.wake_parse($1, $2)",
                                    .params = std::move(params),
                                    .name = "mr_api_wake_parse"}));
    co_return effect_of(word);
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<WebhookStore> make_webhook_store(ApiSession& session) {
  return std::make_unique<PgWebhookStore>(session);
}

}  // namespace millrace::store
