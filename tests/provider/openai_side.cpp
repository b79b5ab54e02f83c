// OpenAI's chat completions: INTEGRATIONS §1.2 and §1.3.
#include "openai_errors.h"
#include "side.h"
#include "strict_schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::test {
namespace {

constexpr std::size_t kImageMaxBytes = std::size_t{20} * 1000 * 1000;
constexpr std::size_t kImagesMax = 500;
constexpr std::uint64_t kImageTokens = 765;

// The content of one message: a text, or parts of text and pictures.
std::optional<WireReply> read_content(const json::Value& content, std::string& text,
                                      Question& question) {
  if (content.is_string()) {
    text += content.get_string();
    return std::nullopt;
  }
  if (!content.is_array()) return openai_invalid("Invalid type for 'messages[0].content'.");
  for (const auto& part : content.get_array()) {
    const auto type = member(part, "type");
    if (type == "text") {
      text += member(part, "text");
      continue;
    }
    if (type != "image_url") return openai_invalid("Invalid value for 'type' of a content part.");
    const auto* image = part.as_object().if_contains("image_url");
    const auto url = image == nullptr ? std::string() : member(*image, "url");
    const auto comma = url.find(";base64,");
    if (!url.starts_with("data:image/") || comma == std::string::npos) {
      return openai_invalid("Failed to download image: not a data URL.", "invalid_image_url");
    }
    const auto bytes = base64_decode(std::string_view(url).substr(comma + 8));
    if (!bytes || bytes->empty()) return openai_invalid("Invalid image.", "invalid_image");
    if (bytes->size() > kImageMaxBytes || question.images.size() >= kImagesMax) {
      return openai_invalid("The image is too large.", "image_too_large");
    }
    question.images.push_back(*bytes);
  }
  return std::nullopt;
}

std::optional<WireReply> read_format(const json::Object& body, Question& question) {
  const auto* format = body.if_contains("response_format");
  if (format == nullptr) return std::nullopt;
  const auto type = member(*format, "type");
  if (type == "json_object") {
    auto all = question.system + question.user;
    std::ranges::transform(all, all.begin(), [](unsigned char c) { return std::tolower(c); });
    if (all.contains("json")) return std::nullopt;
    return openai_invalid(
        "'messages' must contain the word 'json' in some form, to use 'json_object'.");
  }
  if (type != "json_schema") return openai_invalid("Invalid value for 'response_format.type'.");
  const auto* spec = format->as_object().if_contains("json_schema");
  if (spec == nullptr || !spec->is_object()) return openai_invalid("Missing 'json_schema'.");
  const auto name = member(*spec, "name");
  const bool named =
      !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
      });
  if (!named) return openai_invalid("Invalid 'response_format.json_schema.name'.");
  const auto* schema = spec->get_object().if_contains("schema");
  if (schema == nullptr) return openai_invalid("Missing 'response_format.json_schema.schema'.");
  if (const auto fault = strict_schema_fault(*schema); !fault.empty()) {
    return openai_invalid("Invalid schema for response_format: " + fault);
  }
  question.schema = *schema;
  return std::nullopt;
}

class OpenAiSide final : public Side {
 public:
  std::string_view name() const override { return "openai"; }

  std::string key_of(const WireRequest& request) const override { return openai_key(request); }
  WireReply wrong_key(bool missing) const override { return openai_wrong_key(missing); }

  std::expected<Question, WireReply> read(const WireRequest& request,
                                          const ModelRules& rules) const override {
    const auto body = parse_json_object(request.body, {.max_bytes = request.body.size()});
    if (!body) return std::unexpected(openai_invalid("We could not parse the JSON body."));
    Question question{.model = member(*body, "model")};
    if (!rules.models.contains(question.model)) {
      return std::unexpected(
          openai_error(404, fmt::format("The model '{}' does not exist.", question.model),
                       "invalid_request_error", "model_not_found"));
    }
    const auto* messages = body->if_contains("messages");
    if (messages == nullptr || !messages->is_array() || messages->get_array().empty()) {
      return std::unexpected(openai_invalid("Missing required parameter: 'messages'."));
    }
    for (const auto& message : messages->get_array()) {
      const auto* content = message.as_object().if_contains("content");
      if (content == nullptr) return std::unexpected(openai_invalid("A message has no content."));
      auto& text = member(message, "role") == "user" ? question.user : question.system;
      if (auto wrong = read_content(*content, text, question)) return std::unexpected(*wrong);
    }
    if (auto wrong = read_format(*body, question)) return std::unexpected(*wrong);
    question.output_max = 4'096;
    for (const auto* field : {"max_completion_tokens", "max_tokens"}) {
      const auto* limit = body->if_contains(field);
      if (limit == nullptr) continue;
      if (!limit->is_int64() || limit->get_int64() < 1) {
        return std::unexpected(openai_invalid(fmt::format("Invalid value for '{}'.", field)));
      }
      question.output_max = static_cast<std::uint64_t>(limit->get_int64());
    }
    question.input_tokens = tokens_of(question.system) + tokens_of(question.user) +
                            kImageTokens * question.images.size() + 8;
    if (question.schema) question.input_tokens += tokens_of(to_json(*question.schema));
    if (question.input_tokens + question.output_max > rules.context_tokens) {
      return std::unexpected(fail({.action = Action::too_large}));
    }
    return question;
  }

  WireReply say(const Question& question, const Saying& saying) const override {
    if (saying.action == Action::inner_error) {
      return json_reply(
          200, json::Object{{"error", json::Object{{"message", "Upstream error"}, {"code", 502}}}});
    }
    if (saying.action == Action::wrong_shape) {
      return json_reply(200, json::Object{{"object", "chat.completion"}, {"id", saying.id}});
    }
    const bool refused = saying.action == Action::refusal;
    auto text = saying.text;
    std::string finish = "stop";
    if (saying.action == Action::content_filter) finish = "content_filter";
    if (saying.action == Action::length) text.resize(text.size() / 2);
    if (saying.action == Action::length || tokens_of(text) > question.output_max) {
      finish = "length";
      text.resize(std::min<std::size_t>(text.size(), question.output_max * 4));
    }
    json::Object message{{"role", "assistant"},
                         {"content", refused ? json::Value(nullptr) : json::Value(text)},
                         {"refusal", nullptr}};
    if (refused) message["refusal"] = "I'm sorry, I can't assist with that.";
    json::Array choices;
    choices.push_back(
        json::Object{{"index", 0}, {"message", std::move(message)}, {"finish_reason", finish}});
    const auto output = tokens_of(text);
    return json_reply(
        200,
        json::Object{
            {"id", saying.id},
            {"object", "chat.completion"},
            {"model", question.model + "-2026-01-01"},
            {"choices", std::move(choices)},
            {"usage", json::Object{{"prompt_tokens", question.input_tokens},
                                   {"completion_tokens", output},
                                   {"total_tokens", question.input_tokens + output},
                                   {"prompt_tokens_details", json::Object{{"cached_tokens", 0}}}}},
            {"a_new_member", json::Object{{"nobody", "knows"}}}});
  }

  WireReply fail(const Trouble& trouble) const override { return openai_trouble(trouble); }

  void add_limits(WireReply& reply, const Admission& admission, Clock::Wall) const override {
    openai_limits(reply, admission);
  }
};

}  // namespace

std::unique_ptr<Side> make_openai_side() { return std::make_unique<OpenAiSide>(); }

}  // namespace millrace::test
