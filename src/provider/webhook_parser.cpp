#include "provider/webhook_parser.h"

#include "provider/llamaparse.h"
#include "provider/refused.h"
#include "provider/reply_json.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace millrace::provider {
namespace {

constexpr std::size_t kAnswerMaxBytes = 1024 * 1024;
constexpr std::size_t kIdMax = 200;

}  // namespace

Result<void> check_options(const WebhookParserOptions& options) {
  MR_TRY_VOID(check_base_url(options.name + ".url", options.url, options.allow_http));
  MR_TRY_VOID(check_timeouts(options.name + ".timeouts", options.timeouts));
  if (options.version.empty()) {
    return fail(ErrorKind::invalid_argument, options.name + ".version must not be empty");
  }
  return ok();
}

WebhookParser::WebhookParser(http::Client& client, const Clock& clock, WebhookParserOptions options)
    : client_(client), clock_(clock), options_(std::move(options)) {
  while (options_.url.ends_with('/')) options_.url.pop_back();
}

awaitable<Answer<std::string>> WebhookParser::ask(WebhookParseRequest wanted,
                                                  CancelToken cancel) const {
  const auto body = json::Object{{"job_id", wanted.job_id},
                                 {"source_url", wanted.source_url.reveal()},
                                 {"webhook_url", wanted.webhook_url},
                                 {"output_format", "markdown"},
                                 {"webhook_secret", wanted.webhook_secret.reveal()}};
  http::Request out{.method = "POST",
                    .url = options_.url + "/parse",
                    .headers = {{"Content-Type", "application/json"},
                                {"Accept", "application/json"},
                                {"Idempotency-Key", wanted.job_id}},
                    .body = to_json(body),
                    .service = options_.name};
  if (!options_.token.reveal().empty()) {
    out.headers.emplace_back("Authorization", "Bearer " + options_.token.reveal());
  }
  auto response = co_await exchange(&client_, std::move(out), {.timeouts = options_.timeouts},
                                    std::move(cancel));
  if (!response) co_return std::unexpected(std::move(response).error());
  const auto answer = body_json(*response, kAnswerMaxBytes);
  if (response->status >= 200 && response->status < 300) {
    auto id = text_at(answer, {"parse_job_id"});
    co_return id.empty() || id.size() > kIdMax ? wanted.job_id : id;
  }
  const auto secrets = std::to_array<std::string_view>(
      {wanted.source_url.reveal(), wanted.webhook_secret.reveal(), options_.token.reveal()});
  const CallContext context{
      .service = Service::parser,
      .name = options_.name,
      .scrub = {.secrets = std::span(secrets).first(options_.token.reveal().empty() ? 2 : 3)}};
  auto refusal = parser_refusal(answer, response->status);
  read_retry_headers(*response, clock_.wall(), refusal);
  co_return std::unexpected(refused(context, refusal));
}

}  // namespace millrace::provider
