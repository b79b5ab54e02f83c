// OpenAI's embeddings: INTEGRATIONS §1.1 and §1.3.
#include "embedding.h"
#include "openai_errors.h"
#include "side.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace millrace::test {
namespace {

std::optional<WireReply> read_inputs(const json::Object& body, const EmbedBounds& bounds,
                                     Question& question) {
  const auto* input = body.if_contains("input");
  if (input == nullptr) return openai_invalid("Missing required parameter: 'input'.");
  if (input->is_string()) question.inputs.emplace_back(input->get_string());
  if (input->is_array()) {
    for (const auto& text : input->get_array()) {
      if (!text.is_string()) return openai_invalid("'input' holds something that is no text.");
      question.inputs.emplace_back(text.get_string());
    }
  }
  if (question.inputs.empty()) return openai_invalid("'$.input' is invalid.");
  if (question.inputs.size() > bounds.inputs) {
    return openai_invalid(
        fmt::format("Invalid 'input': array too long. Expected an array with maximum length {}, "
                    "but got an array with length {} instead.",
                    bounds.inputs, question.inputs.size()),
        "array_above_max_length");
  }
  for (const auto& text : question.inputs) {
    if (text.empty()) return openai_invalid("'$.input' is invalid: empty text.");
    const auto tokens = tokens_of(text);
    question.input_tokens += tokens;
    if (tokens <= bounds.input_tokens) continue;
    // As the real one says it: without a code.
    return openai_error(400,
                        fmt::format("This model's maximum context length is {} tokens, however you "
                                    "requested {} tokens.",
                                    bounds.input_tokens, tokens),
                        "invalid_request_error", nullptr);
  }
  if (question.input_tokens <= bounds.request_tokens) return std::nullopt;
  return openai_error(400,
                      fmt::format("Requested {} tokens, max {} tokens per request",
                                  question.input_tokens, bounds.request_tokens),
                      "max_tokens_per_request", "max_tokens_per_request");
}

std::optional<WireReply> read_form(const json::Object& body, const ModelRules& rules,
                                   Question& question) {
  question.dimensions = rules.embedding_models.at(question.model);
  if (const auto* dimensions = body.if_contains("dimensions")) {
    if (!question.model.starts_with("text-embedding-3") &&
        !question.model.starts_with("stand-in")) {
      return openai_invalid("This model does not support specifying dimensions.");
    }
    const bool fits = dimensions->is_int64() && dimensions->get_int64() >= 1 &&
                      dimensions->get_int64() <= static_cast<std::int64_t>(question.dimensions);
    if (!fits) return openai_invalid("Invalid value for 'dimensions'.");
    question.dimensions = static_cast<std::size_t>(dimensions->get_int64());
  }
  const auto format = member(body, "encoding_format");
  question.as_base64 = format == "base64";
  if (body.contains("encoding_format") && format != "base64" && format != "float") {
    return openai_invalid("Invalid value for 'encoding_format'.");
  }
  return std::nullopt;
}

json::Value wire_vector(const std::vector<float>& vector, bool as_base64) {
  if (as_base64) {
    static_assert(std::endian::native == std::endian::little);
    return json::Value(base64_encode(std::string_view(reinterpret_cast<const char*>(vector.data()),
                                                      vector.size() * sizeof(float))));
  }
  json::Array out;
  out.reserve(vector.size());
  for (const float number : vector) {
    if (std::isfinite(number))
      out.push_back(static_cast<double>(number));
    else
      out.push_back(nullptr);
  }
  return out;
}

class EmbeddingsSide final : public Side {
 public:
  std::string_view name() const override { return "embeddings"; }
  std::string key_of(const WireRequest& request) const override { return openai_key(request); }
  WireReply wrong_key(bool missing) const override { return openai_wrong_key(missing); }
  WireReply fail(const Trouble& trouble) const override { return openai_trouble(trouble); }
  void add_limits(WireReply& reply, const Admission& admission, Clock::Wall) const override {
    openai_limits(reply, admission);
  }

  std::expected<Question, WireReply> read(const WireRequest& request,
                                          const ModelRules& rules) const override {
    const auto body = parse_json_object(request.body, {.max_bytes = request.body.size()});
    if (!body) return std::unexpected(openai_invalid("We could not parse the JSON body."));
    Question question{.model = member(*body, "model")};
    if (!rules.embedding_models.contains(question.model)) {
      return std::unexpected(
          openai_error(404, fmt::format("The model '{}' does not exist.", question.model),
                       "invalid_request_error", "model_not_found"));
    }
    if (auto wrong = read_inputs(*body, rules.embed, question)) return std::unexpected(*wrong);
    if (auto wrong = read_form(*body, rules, question)) return std::unexpected(*wrong);
    for (const auto& text : question.inputs) question.user += text;
    return question;
  }

  WireReply say(const Question& question, const Saying& saying) const override {
    if (saying.action == Action::inner_error) {
      return json_reply(
          200, json::Object{{"error", json::Object{{"message", "Upstream error"}, {"code", 502}}}});
    }
    if (saying.action == Action::wrong_shape) {
      return json_reply(200, json::Object{{"object", "list"}, {"model", question.model}});
    }
    // Nobody promises an order: only `index` says what belongs together.
    std::vector<std::size_t> order(question.inputs.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(order.size() / 3));
    std::ranges::reverse(order);
    if (saying.action == Action::short_answer) order.pop_back();
    json::Array data;
    for (const auto index : order) data.push_back(item(question, saying, index));
    if (saying.action == Action::duplicate_index && data.size() > 1) {
      data.back().as_object()["index"] = data.front().at("index");
    }
    return json_reply(200,
                      json::Object{{"object", "list"},
                                   {"model", question.model},
                                   {"data", std::move(data)},
                                   {"usage", json::Object{{"prompt_tokens", question.input_tokens},
                                                          {"total_tokens", question.input_tokens}}},
                                   {"a_new_member", json::Object{{"nobody", "knows"}}}});
  }

 private:
  static json::Object item(const Question& question, const Saying& saying, std::size_t index) {
    const bool wrong_size = saying.action == Action::wrong_dimension && index == 0;
    auto vector = stand_in_embedding(question.inputs[index],
                                     question.dimensions + (wrong_size ? 1 : 0), saying.id);
    if (saying.action == Action::not_a_number && index == 0) {
      vector.front() = std::numeric_limits<float>::quiet_NaN();
    }
    const bool as_base64 = question.as_base64 && saying.action != Action::as_floats;
    json::Object out{
        {"object", "embedding"}, {"index", index}, {"embedding", wire_vector(vector, as_base64)}};
    if (saying.action == Action::wrong_index && index == 0) out["index"] = question.inputs.size();
    return out;
  }
};

}  // namespace

std::unique_ptr<Side> make_embeddings_side() { return std::make_unique<EmbeddingsSide>(); }

}  // namespace millrace::test
