#include "api/routes/webhooks.h"

#include "api/call.h"
#include "api/problem.h"
#include "api/webhook/callback.h"
#include "api/webhook/parser_message.h"
#include "base/json_outside.h"
#include "identity/digest.h"
#include "identity/refusal.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <span>
#include <utility>

namespace millrace::api {
namespace {

using store::WebhookEffect;

constexpr std::string_view kParser = "llamaparse";
constexpr std::string_view kCallback = "parse";
constexpr std::uint64_t kCallbackMaxBytes = 64 * 1024;
constexpr std::size_t kMessageDepth = 32;

// Shared by the two operations.
struct Desk {
  Desk(WebhookServices parts, WebhookOptions chosen)
      : services(parts),
        options(std::move(chosen)),
        keys(options.parser_keys),
        bodies(options.bodies_max_bytes) {}

  WebhookServices services;
  WebhookOptions options;
  ParserKeys keys;
  ByteBudget bodies;
};
using DeskPtr = std::shared_ptr<Desk>;

Reply problem(const Call& call, int status, std::string_view code, std::string detail) {
  return problem_reply({.fault = {.status = status, .code = code, .detail = std::move(detail)}},
                       call.operation().form, call.request.correlation_id);
}

// Why a delivery is not looked into any further, and as what it is counted.
struct Refused {
  std::string_view counted;
  int status = 401;
  std::string_view code = "invalid_signature";
  std::string detail = "Invalid signature";
};

Reply refuse(const Call& call, const Desk& desk, std::string_view source, const Refused& refused) {
  desk.services.metrics.count(source, refused.counted);
  call.note("webhook", std::string(refused.counted));
  return problem(call, refused.status, refused.code, refused.detail);
}

Reply message(std::string_view text) {
  return Reply::json(json::Object{{"status", "ok"}, {"message", text}});
}

std::string_view header(const Call& call, std::string_view name) {
  return call.request.header(name).value_or(std::string_view());
}

// The switch and the address: before a byte of the body is read.
std::optional<Refused> admit(const Call& call, const Desk& desk) {
  if (!desk.options.enabled) {
    return Refused{.counted = "disabled",
                   .status = 404,
                   .code = "not_found",
                   .detail = "webhooks are switched off"};
  }
  const auto& allowed = desk.options.allowed;
  if (allowed.empty()) return std::nullopt;
  const std::string_view host =
      call.request.peer == nullptr ? std::string_view() : call.request.peer->host;
  if (http::is_trusted(host, allowed)) return std::nullopt;
  return Refused{.counted = "bad_address",
                 .status = 403,
                 .code = "forbidden",
                 .detail = "webhooks are not accepted from this address"};
}

// Nothing: the body is there. What is wrong with a body that does not come is the server's to
// answer. Charged is what has arrived and as much again, not what is announced: whoever sends
// little keeps nobody out.
Task<std::optional<Refused>> read_body(Call& call, Desk& desk, std::string_view source) {
  constexpr std::size_t kPieceMin = 4 * 1024;
  constexpr std::size_t kPieceMax = 64 * 1024;
  auto& text = call.body_text;
  std::size_t size = 0;
  std::size_t charged = 0;
  for (;;) {
    const auto piece = std::clamp(size, kPieceMin, kPieceMax);
    const auto left = call.request.body_length().value_or(size + piece) - size;
    const auto more = std::min<std::uint64_t>(piece, left);
    if (more == 0) break;
    if (size + more > charged) {
      if (!call.body_share.grow(desk.bodies, size + more - charged)) {
        call.response.header("Retry-After", "1");
        co_return Refused{
            .counted = "no_room",
            .status = 503,
            .code = "too_many_bodies",
            .detail = "large requests take all the memory there is for them; try again"};
      }
      charged = size + more;
    }
    text.resize(size + more);
    auto got = co_await call.request.read_body(std::span(text).subspan(size));
    if (!got) {
      desk.services.metrics.count(source, "bad_body");
      call.note("webhook", "bad_body");
      call.body_failed = true;
      co_return fail(std::move(got).error());
    }
    size += *got;
    text.resize(size);
    if (*got == 0) break;
  }
  desk.services.metrics.add_bytes(size);
  co_return std::nullopt;
}

// Why the time or the id of a parser's message is not good (W-05); both are unsigned there, so they
// only make a replay harder: the state of the job is what a replay cannot change.
std::optional<Refused> check_time_and_id(const Call& call, const Desk& desk) {
  const auto at = identity::parse_unix_seconds(header(call, "x-llamaparse-timestamp"));
  if (!at) {
    return Refused{.counted = "bad_time",
                   .code = "invalid_timestamp",
                   .detail = "X-LlamaParse-Timestamp must be unix seconds"};
  }
  if (auto good = identity::check_webhook_time(*at, desk.services.clock.wall()); !good) {
    return Refused{
        .counted = "bad_time", .code = "invalid_timestamp", .detail = good.error().message};
  }
  if (auto good = identity::check_webhook_id(header(call, "x-llamaparse-webhook-id"), true);
      !good) {
    return Refused{.counted = "bad_message",
                   .status = 400,
                   .code = "invalid_parameter",
                   .detail = "X-LlamaParse-Webhook-Id: " + good.error().message};
  }
  return std::nullopt;
}

Task<store::StoredBlob> keep(blob::BlobStore& blobs, std::string_view content) {
  constexpr std::string_view kMarkdown = "text/markdown";
  MR_CO_TRY(const auto writer, co_await blobs.create({.content_type = std::string(kMarkdown),
                                                      .size_bytes = content.size()}));
  MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(content))));
  MR_CO_TRY(const auto info, co_await writer->finish());
  co_return store::StoredBlob{.sha256 = info.key.sha256.hex(),
                              .size_bytes = static_cast<std::int64_t>(info.size_bytes),
                              .content_type = std::string(kMarkdown),
                              .store_key = info.key.text(),
                              .stored_at = info.modified};
}

// A message that is signed for its job.
Task<Reply> take_message(Call& call, Desk& desk, const ParserMessage& said) {
  auto& services = desk.services;
  call.note("job_id", said.job);
  const auto unknown = [&] {
    return refuse(call, desk, kParser,
                  {.counted = "unknown",
                   .status = 404,
                   .code = "not_found",
                   .detail = "no parse of this job is awaited"});
  };
  MR_CO_TRY(const auto state, co_await services.store.parse_awaited(said.job));
  if (!state) co_return unknown();
  const bool waits = *state == "asked" || *state == "waiting";
  if (!waits) {
    services.metrics.count(kParser, "already");
    co_return message("Already processed");
  }
  std::variant<store::StoredBlob, store::ParseFailed> result;
  const auto* artifact = std::get_if<ParserArtifact>(&said.result);
  if (artifact != nullptr) {
    // Before the row: content without one is swept, and the row decides which counts (G05).
    MR_CO_TRY(result, co_await keep(services.blobs, artifact->content));
  } else {
    result = store::ParseFailed{.reason = std::get<ParserFailure>(said.result).reason};
  }
  MR_CO_TRY(const auto effect, co_await services.store.receive_parse(
                                   {.source = std::string(kParser),
                                    .id = std::string(header(call, "x-llamaparse-webhook-id")),
                                    .job = said.job},
                                   std::move(result)));
  if (effect == WebhookEffect::unknown) co_return unknown();
  if (effect == WebhookEffect::already) {
    services.metrics.count(kParser, "already");
    co_return message("Already processed");
  }
  services.metrics.count(kParser, artifact != nullptr ? "processed" : "failed");
  co_return message(artifact != nullptr ? "Processed successfully" : "Failure recorded");
}

// The message, if it is signed for the job that it is about. It is parsed only then, except for
// senders that sign its canonical form; and only who has signed is told that it is no JSON.
std::expected<json::Value, Refused> signed_body(const Call& call, const Desk& desk) {
  const auto& raw = call.body_text;
  const auto signature = header(call, "x-llamaparse-signature");
  std::vector<std::optional<JobId>> jobs;
  for (const auto& job : jobs_named_in(raw)) jobs.emplace_back(job);
  jobs.emplace_back(std::nullopt);
  const auto by = std::ranges::find_if(
      jobs, [&](const auto& job) { return desk.keys.fits(job, raw, signature); });
  const std::unexpected bad_signature(Refused{.counted = "bad_signature"});
  if (by == jobs.end() && !desk.keys.canonical()) return bad_signature;
  const auto mended = mend_surrogates(raw);
  auto body =
      parse_json(mended ? *mended : raw, {.max_bytes = raw.size(), .max_depth = kMessageDepth});
  if (!body && by != jobs.end()) {
    return std::unexpected(Refused{.counted = "bad_message",
                                   .status = 400,
                                   .code = "invalid_body",
                                   .detail = std::move(body).error().message});
  }
  const auto job = body ? job_of_message(*body) : std::nullopt;
  if (!job) return bad_signature;
  const bool fits = by != jobs.end() ? !by->has_value() || **by == *job
                                     : desk.keys.fits_canonical(*job, *body, signature);
  if (!fits) return bad_signature;
  return *std::move(body);
}

Task<Reply> parser_webhook(Call& call, DeskPtr desk) {
  if (auto refused = admit(call, *desk)) co_return refuse(call, *desk, kParser, *refused);
  MR_CO_TRY(const auto unread, co_await read_body(call, *desk, kParser));
  if (unread) co_return refuse(call, *desk, kParser, *unread);
  const auto body = signed_body(call, *desk);
  if (!body) co_return refuse(call, *desk, kParser, body.error());
  if (auto refused = check_time_and_id(call, *desk)) {
    co_return refuse(call, *desk, kParser, *refused);
  }
  const auto said = read_parser_message(*body);
  if (!said) {
    co_return refuse(call, *desk, kParser,
                     {.counted = "bad_artifact",
                      .status = 400,
                      .code = "invalid_body",
                      .detail = said.error().message});
  }
  if (std::holds_alternative<NoArtifact>(said->result)) {
    co_return refuse(call, *desk, kParser,
                     {.counted = "no_artifact",
                      .status = 400,
                      .code = "invalid_body",
                      .detail = "No processable artifacts"});
  }
  co_return co_await take_message(call, *desk, *said);
}

// Signed by one of our keys, or with the header that only we can make of the capability.
std::optional<Refused> check_callback(const Call& call, const Desk& desk,
                                      std::string_view capability) {
  const auto signature = header(call, "webhook-signature");
  if (!signature.empty() && desk.options.signing_keys) {
    const auto good =
        desk.options.signing_keys->verify({.id = header(call, "webhook-id"),
                                           .timestamp = header(call, "webhook-timestamp"),
                                           .signature = signature},
                                          call.body_text, desk.services.clock.wall());
    if (good) return std::nullopt;
    const auto why = identity::refusal_of(good.error());
    const bool late = why == identity::Refusal::expired || why == identity::Refusal::not_yet_valid;
    return late ? Refused{.counted = "bad_time",
                          .code = "invalid_timestamp",
                          .detail = good.error().message}
                : Refused{.counted = "bad_signature"};
  }
  const auto token = header(call, kCallbackHeader);
  const bool fits =
      std::ranges::any_of(desk.options.parser_keys.masters, [&](const Secret<std::string>& master) {
        return identity::equal_in_constant_time(callback_token(master, capability), token);
      });
  return fits ? std::nullopt : std::optional(Refused{.counted = "bad_signature"});
}

Task<Reply> callback_webhook(Call& call, DeskPtr desk) {
  if (auto refused = admit(call, *desk)) co_return refuse(call, *desk, kCallback, *refused);
  MR_CO_TRY(const auto unread, co_await read_body(call, *desk, kCallback));
  if (unread) co_return refuse(call, *desk, kCallback, *unread);
  const auto capability = call.parameters.required("capability");
  if (auto refused = check_callback(call, *desk, capability)) {
    co_return refuse(call, *desk, kCallback, *refused);
  }
  const auto signed_id = header(call, "webhook-id");
  const auto event =
      read_callback(signed_id.empty() ? header(call, "x-webhook-event-id") : signed_id,
                    header(call, "x-webhook-event-type"), call.body_text);
  if (!event) {
    co_return refuse(call, *desk, kCallback,
                     {.counted = "bad_message",
                      .status = 400,
                      .code = "invalid_body",
                      .detail = "the event must be one of a parse: parse.*"});
  }
  MR_CO_TRY(const auto effect,
            co_await desk->services.store.wake_parse(capability_sha256(capability), event->id));
  if (effect == WebhookEffect::unknown) {
    co_return refuse(call, *desk, kCallback,
                     {.counted = "unknown",
                      .status = 404,
                      .code = "not_found",
                      .detail = "nobody waits for this parse"});
  }
  const bool woken = effect == WebhookEffect::done;
  desk->services.metrics.count(kCallback, woken ? "woken" : "already");
  co_return message(woken ? "Processed successfully" : "Already processed");
}

constexpr std::string_view kAnswer = R"({"type":"object","required":["status","message"],
  "properties":{"status":{"const":"ok"},"message":{"type":"string"}}})";

Operation base_operation(std::string id, std::string path, std::string summary) {
  Operation operation{.id = std::move(id),
                      .method = "POST",
                      .path = std::move(path),
                      .tag = "Webhooks",
                      .summary = std::move(summary),
                      .access = Access::signature()};
  operation.body = RequestBody{.kind = RequestBody::Kind::stream,
                               .schema = R"({"type":"object"})",
                               .content_types = {std::string(kJsonType)}};
  operation.answers = {{.status = 200,
                        .description = "It is on record, now or since an earlier delivery.",
                        .schema = std::string(kAnswer)}};
  operation.errors = {400, 401, 403, 404, 503};
  operation.rate_limited = false;
  return operation;
}

Parameter header_parameter(std::string name, std::string description) {
  return {.in = In::header, .name = std::move(name), .description = std::move(description)};
}

}  // namespace

std::vector<Operation> webhook_operations(WebhookServices services, WebhookOptions options) {
  const auto desk = std::make_shared<Desk>(services, std::move(options));
  auto parser = base_operation("webhooks.llamaparse", "/webhooks/llamaparse",
                               "A parser brings what it was asked for (H-17)");
  parser.description =
      "The body is {\"job_id\", \"artifacts\": [{\"type\": \"markdown\", \"content\", \"sha256\", "
      "\"bytes\"}]}, or {\"job_id\", \"status\": \"failed\", \"error\"}. It is signed as it is: "
      "hexadecimal HMAC-SHA256 with the secret of the job.";
  parser.parameters = {
      header_parameter("X-LlamaParse-Signature", "Hexadecimal HMAC-SHA256 of the body."),
      header_parameter("X-LlamaParse-Timestamp", "Unix seconds, at most 300 from now."),
      header_parameter("X-LlamaParse-Webhook-Id", "The same for every attempt to deliver it."),
      header_parameter("Idempotency-Key", "Not needed: the id of the webhook counts.")};
  parser.body_max_bytes = desk->options.body_max_bytes;
  parser.handler = [desk](Call& call) { return parser_webhook(call, desk); };

  auto callback = base_operation("webhooks.parse", "/webhooks/parse/{capability}",
                                 "A parser says that a parse has moved on");
  callback.description =
      "Wakes the job that waits, which then asks for the result itself. Known by the capability "
      "and by X-Millrace-Callback, or signed by Standard Webhooks.";
  callback.parameters = {
      {.in = In::path,
       .name = "capability",
       .description = "Of the parse; handed out with it.",
       .schema = R"({"type":"string","minLength":1,"maxLength":128})",
       .required = true,
       .private_text = true},
      header_parameter(std::string(kCallbackHeader), "What was handed out with the capability."),
      header_parameter("webhook-id", "Standard Webhooks."),
      header_parameter("webhook-timestamp", "Standard Webhooks."),
      header_parameter("webhook-signature", "Standard Webhooks."),
      header_parameter("X-Webhook-Event-ID", "The id of the event, where it is not in the body."),
      header_parameter("X-Webhook-Event-Type",
                       "The name of the event, where it is not in the body."),
      header_parameter("Idempotency-Key", "Not needed: the id of the event counts.")};
  callback.body_max_bytes = kCallbackMaxBytes;
  callback.handler = [desk](Call& call) { return callback_webhook(call, desk); };

  std::vector<Operation> all;
  all.push_back(std::move(parser));
  all.push_back(std::move(callback));
  return all;
}

}  // namespace millrace::api
