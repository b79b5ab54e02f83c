// Anthropic's messages: INTEGRATIONS §1.5.
#include "side.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::test {
namespace {

constexpr std::size_t kRequestMaxBytes = std::size_t{32} * 1000 * 1000;
constexpr std::size_t kImageMaxBytes = std::size_t{5} * 1000 * 1000;
constexpr std::size_t kImagesMax = 100;
constexpr std::uint64_t kImageTokens = 1'600;

WireReply error(int status, std::string_view type, std::string_view message,
                std::string_view error_code = {}) {
  json::Object inner{{"type", type}, {"message", message}};
  if (!error_code.empty()) inner["details"] = json::Object{{"error_code", error_code}};
  return json_reply(
      status,
      json::Object{{"type", "error"}, {"error", std::move(inner)}, {"request_id", "req_standin"}});
}

WireReply invalid(std::string_view message) { return error(400, "invalid_request_error", message); }

std::optional<WireReply> read_content(const json::Value& content, Question& question) {
  if (content.is_string()) {
    question.user += content.get_string();
    return std::nullopt;
  }
  if (!content.is_array()) return invalid("messages.0.content: Input should be a valid list");
  for (const auto& part : content.get_array()) {
    const auto type = member(part, "type");
    if (type == "text") {
      if (member(part, "text").empty()) {
        return invalid("messages: text content blocks must be non-empty");
      }
      question.user += member(part, "text");
      continue;
    }
    if (type != "image") return invalid("messages.0.content.0: unknown type");
    const auto* source = part.as_object().if_contains("source");
    if (source == nullptr) return invalid("messages.0.content.0.image.source: Field required");
    const auto media = member(*source, "media_type");
    if (member(*source, "type") != "base64" || !media.starts_with("image/")) {
      return invalid("messages.0.content.0.image.source: wrong type");
    }
    const auto bytes = base64_decode(member(*source, "data"));
    if (!bytes || bytes->empty()) return invalid("Could not process image");
    if (bytes->size() > kImageMaxBytes) return invalid("image exceeds 5 MB maximum");
    if (question.images.size() >= kImagesMax) return invalid("too many images");
    question.images.push_back(*bytes);
  }
  return std::nullopt;
}

std::optional<WireReply> read_tool(const json::Object& body, Question& question) {
  const auto* tools = body.if_contains("tools");
  const auto* choice = body.if_contains("tool_choice");
  if (tools == nullptr) {
    if (choice != nullptr) return invalid("tool_choice may only be specified with tools");
    return std::nullopt;
  }
  const auto wanted = choice == nullptr ? std::string() : member(*choice, "name");
  for (const auto& tool : tools->as_array()) {
    const auto* schema = tool.as_object().if_contains("input_schema");
    if (schema == nullptr || member(*schema, "type") != "object") {
      return invalid("tools.0.input_schema: must be an object schema");
    }
    if (member(tool, "name") != wanted) continue;
    question.tool = wanted;
    question.schema = *schema;
  }
  if (question.tool.empty()) return invalid("tool_choice names no tool");
  return std::nullopt;
}

class AnthropicSide final : public Side {
 public:
  std::string_view name() const override { return "anthropic"; }

  std::string key_of(const WireRequest& request) const override {
    return request.header("x-api-key");
  }

  WireReply wrong_key(bool missing) const override {
    return error(401, "authentication_error",
                 missing ? "x-api-key header is required" : "invalid x-api-key");
  }

  std::expected<Question, WireReply> read(const WireRequest& request,
                                          const ModelRules& rules) const override {
    if (request.header("anthropic-version").empty()) {
      return std::unexpected(invalid("anthropic-version: header is required"));
    }
    if (request.body.size() > kRequestMaxBytes) {
      return std::unexpected(error(413, "request_too_large", "Request exceeds the maximum size"));
    }
    const auto body = parse_json_object(request.body, {.max_bytes = request.body.size()});
    if (!body) return std::unexpected(invalid("The request body is not valid JSON"));
    Question question{.model = member(*body, "model"), .system = member(*body, "system")};
    if (!rules.models.contains(question.model)) {
      return std::unexpected(error(404, "not_found_error", "model: " + question.model));
    }
    const auto* limit = body->if_contains("max_tokens");
    if (limit == nullptr || !limit->is_int64() || limit->get_int64() < 1) {
      return std::unexpected(invalid("max_tokens: Field required"));
    }
    question.output_max = static_cast<std::uint64_t>(limit->get_int64());
    const auto* messages = body->if_contains("messages");
    if (messages == nullptr || !messages->is_array() || messages->get_array().empty()) {
      return std::unexpected(invalid("messages: at least one message is required"));
    }
    for (const auto& message : messages->get_array()) {
      const auto* content = message.as_object().if_contains("content");
      if (content == nullptr || member(message, "role") == "system") {
        return std::unexpected(invalid("messages.0: wrong role or no content"));
      }
      if (auto wrong = read_content(*content, question)) return std::unexpected(*wrong);
    }
    if (auto wrong = read_tool(*body, question)) return std::unexpected(*wrong);
    question.input_tokens = tokens_of(question.system) + tokens_of(question.user) +
                            kImageTokens * question.images.size() + 8;
    if (question.schema) question.input_tokens += tokens_of(to_json(*question.schema));
    if (question.input_tokens > rules.context_tokens) {
      return std::unexpected(fail({.action = Action::too_large}));
    }
    return question;
  }

  WireReply say(const Question& question, const Saying& saying) const override {
    if (saying.action == Action::inner_error) {
      auto reply = error(500, "overloaded_error", "Overloaded");
      reply.status = 200;  // It failed after the status was sent.
      return reply;
    }
    if (saying.action == Action::wrong_shape) {
      return json_reply(200, json::Object{{"type", "message"}, {"id", saying.id}});
    }
    const bool by_tool = !question.tool.empty();
    auto text = saying.text;
    std::string stop = by_tool ? "tool_use" : "end_turn";
    if (saying.action == Action::refusal || saying.action == Action::content_filter) {
      stop = "refusal";
    }
    if (saying.action == Action::length || tokens_of(text) > question.output_max) {
      stop = "max_tokens";
    }
    const auto output = std::min(tokens_of(text), question.output_max);
    json::Array content;
    if (by_tool) {
      auto input = parse_json(text);
      // A tool's input is JSON whatever the model does; a bad one is of another form.
      if (!input || !input->is_object() || stop != "tool_use") input = json::Object();
      content.push_back(json::Object{{"type", "tool_use"},
                                     {"id", "toolu_1"},
                                     {"name", question.tool},
                                     {"input", *std::move(input)}});
    } else {
      if (stop == "max_tokens") text.resize(text.size() / 2);
      content.push_back(json::Object{{"type", "text"}, {"text", text}});
    }
    return json_reply(200,
                      json::Object{{"id", saying.id},
                                   {"type", "message"},
                                   {"role", "assistant"},
                                   {"model", question.model + "-20260101"},
                                   {"content", std::move(content)},
                                   {"stop_reason", stop},
                                   {"stop_sequence", nullptr},
                                   {"usage", json::Object{{"input_tokens", question.input_tokens},
                                                          {"cache_creation_input_tokens", 0},
                                                          {"cache_read_input_tokens", 0},
                                                          {"output_tokens", output}}}});
  }

  WireReply fail(const Trouble& trouble) const override {
    WireReply reply;
    switch (trouble.action) {
      case Action::throttle:
      case Action::throttle_bare:
      case Action::slow_down:
        reply = error(429, "rate_limit_error", "This request would exceed your rate limit.");
        break;
      case Action::quota:
        reply = error(429, "rate_limit_error", "You have reached your spend limit.",
                      "enforced_spend_limit_reached");
        break;
      case Action::unavailable:
      case Action::unavailable_told:
        reply = error(503, "api_error", "Service unavailable");
        break;
      case Action::overloaded:
        reply = error(529, "overloaded_error", "Overloaded");
        break;
      case Action::auth:
        reply = wrong_key(false);
        break;
      case Action::too_large:
        reply = invalid("prompt is too long: 300000 tokens > 200000 maximum");
        break;
      case Action::echo:
        reply = invalid("messages: " + trouble.repeated);
        break;
      default:
        reply = error(500, "api_error", "Internal server error");
    }
    const bool told =
        trouble.action == Action::throttle || trouble.action == Action::unavailable_told;
    if (told) reply.headers.emplace_back("retry-after", trouble.retry_after);
    return reply;
  }

  void add_limits(WireReply& reply, const Admission& admission, Clock::Wall now) const override {
    reply.headers.emplace_back("request-id", "req_standin");
    const auto add = [&](std::string_view what, const std::optional<BucketView>& bucket) {
      if (!bucket) return;
      const auto name = [&](std::string_view part) {
        return fmt::format("anthropic-ratelimit-{}-{}", what, part);
      };
      reply.headers.emplace_back(name("limit"), std::to_string(bucket->limit));
      reply.headers.emplace_back(name("remaining"), std::to_string(bucket->remaining));
      reply.headers.emplace_back(name("reset"), rfc3339(now + bucket->full_in));
    };
    add("requests", admission.requests);
    add("tokens", admission.tokens);
  }
};

}  // namespace

std::unique_ptr<Side> make_anthropic_side() { return std::make_unique<AnthropicSide>(); }

}  // namespace millrace::test
