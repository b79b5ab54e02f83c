#include "provider/anthropic_chat.h"

#include "provider/base64.h"
#include "provider/refused.h"
#include "provider/reply_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace millrace::provider {
namespace {

using Structured = AnthropicOptions::StructuredOutput;

json::Value user_content(const ChatRequest& request) {
  json::Array parts;
  if (request.image) {
    parts.push_back(
        json::Object{{"type", "image"},
                     {"source", json::Object{{"type", "base64"},
                                             {"media_type", request.image->media_type},
                                             {"data", base64_encode(request.image->bytes)}}}});
  }
  if (!request.user.empty()) {
    parts.push_back(json::Object{{"type", "text"}, {"text", request.user}});
  }
  return parts;
}

std::string body_of(const ChatRequest& request, const AnthropicOptions& options) {
  const bool wants_json = !request.schema.is_null();
  const bool by_tool = wants_json && options.structured_output == Structured::tool;
  json::Array messages;
  messages.push_back(json::Object{{"role", "user"}, {"content", user_content(request)}});
  json::Object body{{"model", request.model},
                    {"max_tokens", request.max_output_tokens},
                    {"messages", std::move(messages)}};
  auto system = request.system;
  if (wants_json && !by_tool) system += schema_in_words(request.schema);
  if (!system.empty()) body["system"] = system;
  if (by_tool) {
    const auto name = wire_name(request.schema_name);
    json::Array tools;
    tools.push_back(json::Object{{"name", name},
                                 {"description", "Takes the whole answer."},
                                 {"input_schema", request.schema}});
    body["tools"] = std::move(tools);
    body["tool_choice"] = json::Object{{"type", "tool"}, {"name", name}};
  }
  if (options.temperature) body["temperature"] = *options.temperature;
  return to_json(body);
}

// What came from the cache, or went into it, is counted beside input_tokens.
Usage usage_of(const json::Value& body) {
  const auto input = count_at(body, {"usage", "input_tokens"});
  const auto output = count_at(body, {"usage", "output_tokens"});
  Usage usage;
  usage.cached = count_at(body, {"usage", "cache_read_input_tokens"}).value_or(0);
  usage.input = input.value_or(0) + usage.cached +
                count_at(body, {"usage", "cache_creation_input_tokens"}).value_or(0);
  usage.output = output.value_or(0);
  usage.reported = input.has_value() && output.has_value();
  return usage;
}

// The tool's input, or all texts one after the other.
std::string text_of(const json::Array& content, bool by_tool) {
  std::string text;
  for (const auto& part : content) {
    const auto type = text_at(part, {"type"});
    if (by_tool && type == "tool_use") {
      const auto* input = at(part, {"input"});
      return input == nullptr ? std::string() : to_json(*input);
    }
    if (!by_tool && type == "text") text += text_at(part, {"text"});
  }
  return text;
}

CallFailure with(CallFailure failure, const ChatAnswer& answer) {
  failure.rate = answer.rate;
  failure.response_id = answer.response_id;
  if (answer.usage.reported) failure.usage = answer.usage;
  return failure;
}

}  // namespace

Result<void> check_options(const AnthropicOptions& options) {
  const auto key = [&](std::string_view part) {
    return fmt::format("provider.{}.{}", options.name, part);
  };
  MR_TRY_VOID(check_base_url(key("base_url"), options.base_url, options.allow_http));
  MR_TRY_VOID(check_timeouts(key("timeouts"), options.timeouts));
  if (!options.messages_path.starts_with('/')) {
    return fail(ErrorKind::invalid_argument, key("messages_path") + " must begin with /");
  }
  if (options.api_key.reveal().empty()) {
    return fail(ErrorKind::invalid_argument, key("api_key") + " is missing");
  }
  return ok();
}

Refusal anthropic_refusal(const json::Value& body, int status) {
  Refusal refusal{.status = status};
  refusal.words = {text_at(body, {"error", "details", "error_code"}),
                   text_at(body, {"error", "type"})};
  std::erase(refusal.words, std::string());
  refusal.message = text_at(body, {"error", "message"});
  if (status == 200) refusal.status = 500;
  return refusal;
}

AnthropicChat::AnthropicChat(http::Client& client, const Clock& clock, AnthropicOptions options)
    : client_(client), clock_(clock), options_(std::move(options)) {
  while (options_.base_url.ends_with('/')) options_.base_url.pop_back();
}

awaitable<Answer<ChatAnswer>> AnthropicChat::chat(ChatRequest request, CancelToken cancel) {
  if (auto wrong = check_chat_request(request)) co_return std::unexpected(*std::move(wrong));
  auto response = co_await exchange(&client_, make_request(request),
                                    {.timeouts = options_.timeouts,
                                     .call_timeout = request.timeout,
                                     .request_max_bytes = options_.request_max_bytes,
                                     .response_max_bytes = options_.response_max_bytes},
                                    std::move(cancel));
  if (!response) co_return std::unexpected(std::move(response).error());
  co_return read(request, *response);
}

http::Request AnthropicChat::make_request(const ChatRequest& request) const {
  http::Request out{.method = "POST",
                    .url = options_.base_url + options_.messages_path,
                    .headers = {{"Content-Type", "application/json"},
                                {"Accept", "application/json"},
                                {"anthropic-version", options_.version},
                                {"x-api-key", options_.api_key.reveal()}},
                    .body = body_of(request, options_),
                    .service = options_.name};
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out.headers.emplace_back(name, value);
  };
  add("Idempotency-Key", request.idempotency_key);
  add("X-Client-Request-Id", request.correlation_id);
  return out;
}

Answer<ChatAnswer> AnthropicChat::read(const ChatRequest& request,
                                       const http::Response& response) const {
  const auto body = body_json(response, options_.response_max_bytes);
  if (response.status != 200 || text_at(body, {"type"}) == "error") {
    return std::unexpected(read_refusal(request, response, body));
  }
  const CallContext context{.service = Service::anthropic, .name = options_.name};
  ChatAnswer answer{.usage = usage_of(body),
                    .finish = text_at(body, {"stop_reason"}),
                    .response_id = text_at(body, {"id"}),
                    .model = text_at(body, {"model"}),
                    .rate = anthropic_rate_state(response, clock_.wall())};
  const auto* content = array_at(body, {"content"});
  if (content == nullptr) {
    return std::unexpected(with(no_answer(context, "no content", answer.usage), answer));
  }
  const auto give_up = [&](std::string_view type, std::string_view what) {
    return std::unexpected(with(unfinished(context, type, what), answer));
  };
  if (answer.finish == "refusal") return give_up("refusal", "the model refused to answer");
  if (answer.finish == "max_tokens") {
    return give_up("truncated", "the answer was longer than max_output_tokens and is cut");
  }
  if (answer.finish == "model_context_window_exceeded") {
    return give_up("too_large", "question and answer are more than the model can hold");
  }
  const bool by_tool = !request.schema.is_null() && options_.structured_output == Structured::tool;
  const bool ended = answer.finish == "end_turn" || answer.finish == "stop_sequence" ||
                     (by_tool && answer.finish == "tool_use");
  if (!ended) {
    return std::unexpected(
        with(no_answer(context, "an end that is not known", answer.usage), answer));
  }
  answer.text = text_of(*content, by_tool);
  if (answer.text.empty()) return give_up("no_text", "the model ended its answer without a text");
  return answer;
}

CallFailure AnthropicChat::read_refusal(const ChatRequest& request, const http::Response& response,
                                        const json::Value& body) const {
  const auto secrets = std::to_array<std::string_view>({options_.api_key.reveal()});
  const CallContext context{.service = Service::anthropic,
                            .name = options_.name,
                            .scrub = {.secrets = secrets, .private_text = request.user}};
  auto refusal = anthropic_refusal(body, response.status);
  read_retry_headers(response, clock_.wall(), refusal);
  auto failure = refused(context, refusal);
  note_status_200(response.status, failure);
  failure.rate = anthropic_rate_state(response, clock_.wall());
  failure.response_id = std::string(response.header("request-id").value_or(""));
  return failure;
}

}  // namespace millrace::provider
