#include "provider/openai_chat.h"

#include "provider/base64.h"
#include "provider/refused.h"
#include "provider/reply_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace millrace::provider {
namespace {

json::Value user_content(const ChatRequest& request) {
  if (!request.image) return json::Value(request.user);
  const auto& image = *request.image;
  const auto url = fmt::format("data:{};base64,{}", image.media_type, base64_encode(image.bytes));
  json::Array parts;
  parts.push_back(json::Object{{"type", "text"}, {"text", request.user}});
  parts.push_back(json::Object{
      {"type", "image_url"}, {"image_url", json::Object{{"url", url}, {"detail", image.detail}}}});
  return parts;
}

json::Value response_format(const ChatRequest& request, StructuredOutput mode) {
  if (mode == StructuredOutput::json_object) return json::Object{{"type", "json_object"}};
  return json::Object{{"type", "json_schema"},
                      {"json_schema", json::Object{{"name", wire_name(request.schema_name)},
                                                   {"strict", true},
                                                   {"schema", request.schema}}}};
}

std::string body_of(const ChatRequest& request, const OpenAiOptions& options) {
  const bool wants_json = !request.schema.is_null();
  const bool in_words = wants_json && options.structured_output != StructuredOutput::json_schema;
  const auto system = in_words ? request.system + schema_in_words(request.schema) : request.system;
  json::Array messages;
  if (!system.empty()) {
    messages.push_back(json::Object{{"role", "system"}, {"content", system}});
  }
  messages.push_back(json::Object{{"role", "user"}, {"content", user_content(request)}});
  json::Object body{{"model", request.model}, {"messages", std::move(messages)}};
  body[options.max_tokens_field] = request.max_output_tokens;
  if (wants_json && options.structured_output != StructuredOutput::none) {
    body["response_format"] = response_format(request, options.structured_output);
  }
  if (options.temperature) body["temperature"] = *options.temperature;
  if (options.seed) body["seed"] = *options.seed;
  return to_json(body);
}

Usage usage_of(const json::Value& body) {
  const auto input = count_at(body, {"usage", "prompt_tokens"});
  const auto output = count_at(body, {"usage", "completion_tokens"});
  Usage usage{.input = input.value_or(0), .output = output.value_or(0)};
  usage.cached = count_at(body, {"usage", "prompt_tokens_details", "cached_tokens"}).value_or(0);
  usage.reported = input.has_value() && output.has_value();
  return usage;
}

// Servers that speak this language say an end in words of their own, in capitals, or not at all. A
// text with an end that nobody knows is taken: whoever asked for a form holds it against that.
enum class End { said, cut, filtered, failed, unknown };
End end_of(std::string finish) {
  for (char& c : finish) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (finish == "stop") return End::said;
  if (finish == "length" || finish == "max_tokens" || finish == "model_length") return End::cut;
  if (finish == "content_filter" || finish == "safety") return End::filtered;
  if (finish == "error") return End::failed;
  return End::unknown;
}

CallFailure with(CallFailure failure, const ChatAnswer& answer) {
  failure.rate = answer.rate;
  failure.response_id = answer.response_id;
  if (answer.usage.reported) failure.usage = answer.usage;
  return failure;
}

}  // namespace

Result<void> check_options(const OpenAiOptions& options) {
  const auto key = [&](std::string_view part) {
    return fmt::format("provider.{}.{}", options.name, part);
  };
  MR_TRY_VOID(check_base_url(key("base_url"), options.base_url, options.allow_http));
  MR_TRY_VOID(check_timeouts(key("timeouts"), options.timeouts));
  if (!options.chat_path.starts_with('/')) {
    return fail(ErrorKind::invalid_argument, key("chat_path") + " must begin with /");
  }
  if (options.auth != OpenAiOptions::Auth::none && options.api_key.reveal().empty()) {
    return fail(ErrorKind::invalid_argument,
                key("api_key") + " is missing; auth = \"none\" is for servers without keys");
  }
  if (options.max_tokens_field != "max_tokens" &&
      options.max_tokens_field != "max_completion_tokens") {
    return fail(ErrorKind::invalid_argument,
                key("max_tokens_field") + " must be max_tokens or max_completion_tokens");
  }
  return ok();
}

Refusal openai_refusal(const json::Value& body, int status) {
  Refusal refusal{.status = status};
  // {"error":{…}}; vLLM's {"object":"error",…}; {"error":"text"}; FastAPI's {"detail":"text"}.
  const auto* error = error_at(body, {"error"});
  if (error == nullptr && body.is_object()) error = &body;
  if (error == nullptr) return refusal;
  if (error->is_string()) {
    refusal.message = error->get_string();
    return refusal;
  }
  refusal.words = {text_at(*error, {"code"}), text_at(*error, {"type"})};
  std::erase(refusal.words, std::string());
  refusal.message = text_at(*error, {"message"});
  if (refusal.message.empty()) refusal.message = text_at(*error, {"detail"});
  const auto number = count_at(*error, {"code"});
  if (status == 200) refusal.status = 500;
  if (status == 200 && number && *number >= 400 && *number <= 599) {
    refusal.status = static_cast<int>(*number);
  }
  return refusal;
}

OpenAiChat::OpenAiChat(http::Client& client, const Clock& clock, OpenAiOptions options)
    : client_(client), clock_(clock), options_(std::move(options)) {
  while (options_.base_url.ends_with('/')) options_.base_url.pop_back();
}

awaitable<Answer<ChatAnswer>> OpenAiChat::chat(ChatRequest request, CancelToken cancel) {
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

http::Request OpenAiChat::make_request(const ChatRequest& request) const {
  http::Request out{
      .method = "POST",
      .url = options_.base_url + options_.chat_path,
      .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
      .body = body_of(request, options_),
      .service = options_.name};
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out.headers.emplace_back(name, value);
  };
  const auto& key = options_.api_key.reveal();
  if (options_.auth == OpenAiOptions::Auth::bearer && !key.empty()) {
    add("Authorization", "Bearer " + key);
  }
  if (options_.auth == OpenAiOptions::Auth::api_key_header) add("api-key", key);
  add("OpenAI-Organization", options_.organization);
  add("OpenAI-Project", options_.project);
  add("Idempotency-Key", request.idempotency_key);
  add("X-Client-Request-Id", request.correlation_id);
  return out;
}

Answer<ChatAnswer> OpenAiChat::read(const ChatRequest& request,
                                    const http::Response& response) const {
  const auto body = body_json(response, options_.response_max_bytes);
  if (response.status != 200 || error_at(body, {"error"}) != nullptr) {
    return std::unexpected(read_refusal(request, response, body));
  }
  const CallContext context{.service = Service::openai, .name = options_.name};
  ChatAnswer answer{.usage = usage_of(body),
                    .response_id = text_at(body, {"id"}),
                    .model = text_at(body, {"model"}),
                    .rate = openai_rate_state(response)};
  const auto* choices = array_at(body, {"choices"});
  if (choices == nullptr || choices->empty()) {
    return std::unexpected(with(no_answer(context, "no choices", answer.usage), answer));
  }
  const auto& choice = choices->front();
  answer.finish = text_at(choice, {"finish_reason"});
  answer.text = text_at(choice, {"message", "content"});
  const auto give_up = [&](std::string_view type, std::string_view what) {
    return std::unexpected(with(unfinished(context, type, what), answer));
  };
  if (!text_at(choice, {"message", "refusal"}).empty()) {
    return give_up("refusal", "the model refused to answer");
  }
  switch (end_of(answer.finish)) {
    case End::cut:
      return give_up("truncated", "the answer was longer than max_output_tokens and is cut");
    case End::filtered:
      return give_up("content_filter", "a filter of the service cut the answer");
    case End::failed:
      return std::unexpected(with(no_answer(context, "a failed end", answer.usage), answer));
    case End::said:
      if (!answer.text.empty()) return answer;
      return give_up("no_text", "the model ended its answer without a text");
    case End::unknown:
      if (!answer.text.empty()) return answer;
      return std::unexpected(
          with(no_answer(context, "no text and an end that is not known", answer.usage), answer));
  }
  return answer;
}

CallFailure OpenAiChat::read_refusal(const ChatRequest& request, const http::Response& response,
                                     const json::Value& body) const {
  const auto secrets = std::to_array<std::string_view>({options_.api_key.reveal()});
  const CallContext context{.service = Service::openai,
                            .name = options_.name,
                            .scrub = {.secrets = secrets, .private_text = request.user}};
  auto refusal = openai_refusal(body, response.status);
  read_retry_headers(response, clock_.wall(), refusal);
  auto failure = refused(context, refusal);
  note_status_200(response.status, failure);
  failure.rate = openai_rate_state(response);
  failure.response_id = std::string(response.header("x-request-id").value_or(""));
  return failure;
}

}  // namespace millrace::provider
