#include "provider/openai_embeddings.h"

#include "provider/base64.h"
#include "provider/openai_chat.h"
#include "provider/price.h"
#include "provider/refused.h"
#include "provider/reply_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace millrace::provider {
namespace {

constexpr std::size_t kServiceInputsMax = 2'048;
constexpr int kDimensionsMax = 16'000;

struct KnownModel {
  std::string_view name;
  int dimension;
};
constexpr auto kKnownModels = std::to_array<KnownModel>({{"text-embedding-3-small", 1'536},
                                                         {"text-embedding-3-large", 3'072},
                                                         {"text-embedding-ada-002", 1'536}});

int dimension_of(const OpenAiEmbedOptions& options) {
  if (options.dimensions > 0) return options.dimensions;
  for (const auto& known : kKnownModels) {
    if (known.name == options.model) return known.dimension;
  }
  return 0;
}

EmbeddingModelInfo info_of(const OpenAiEmbedOptions& options) {
  return {.model = options.dimensions > 0 ? fmt::format("{}@{}", options.model, options.dimensions)
                                          : options.model,
          .version = options.version,
          .dimension = dimension_of(options)};
}

std::optional<std::vector<float>> numbers_of(const json::Array& array) {
  std::vector<float> out;
  out.reserve(array.size());
  for (const auto& value : array) {
    if (!value.is_number()) return std::nullopt;
    out.push_back(static_cast<float>(value.to_number<double>()));
  }
  return out;
}

std::optional<std::vector<float>> vector_of(const json::Value& item) {
  const auto* value = at(item, {"embedding"});
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return decode_vector(value->get_string());
  return value->is_array() ? numbers_of(value->get_array()) : std::nullopt;
}

CallFailure mismatch(std::string message) {
  return {.kind = CallFailure::Kind::retry,
          .error_type = "vectors_mismatch",
          .message = std::move(message)};
}

// By `index`; a list that is not exactly one vector for each text is none.
Answer<std::vector<std::vector<float>>> vectors_of(const json::Array& data, std::size_t inputs) {
  if (data.size() != inputs) {
    return std::unexpected(mismatch(fmt::format("{} vectors for {} texts", data.size(), inputs)));
  }
  std::vector<std::vector<float>> vectors(inputs);
  for (const auto& item : data) {
    const auto* index = at(item, {"index"});
    if (index == nullptr || !index->is_int64() || index->get_int64() < 0 ||
        static_cast<std::size_t>(index->get_int64()) >= inputs) {
      return std::unexpected(mismatch("a vector for a text that was not sent"));
    }
    auto& place = vectors[static_cast<std::size_t>(index->get_int64())];
    if (!place.empty()) {
      return std::unexpected(mismatch(fmt::format("two vectors for text {}", index->get_int64())));
    }
    auto vector = vector_of(item);
    if (!vector || vector->empty()) {
      return std::unexpected(
          mismatch(fmt::format("what there is for text {} is no vector", index->get_int64())));
    }
    place = *std::move(vector);
  }
  return vectors;
}

}  // namespace

std::optional<std::vector<float>> decode_vector(std::string_view base64) {
  static_assert(std::endian::native == std::endian::little, "the wire has little-endian numbers");
  const auto bytes = base64_decode(base64);
  if (!bytes || bytes->size() % sizeof(float) != 0) return std::nullopt;
  std::vector<float> vector(bytes->size() / sizeof(float));
  std::memcpy(vector.data(), bytes->data(), bytes->size());
  return vector;
}

Result<void> check_options(const OpenAiEmbedOptions& options) {
  const auto key = [&](std::string_view part) {
    return fmt::format("provider.{}.{}", options.name, part);
  };
  const auto wrong = [&](std::string_view part, std::string_view rule) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} {}", key(part), rule));
  };
  MR_TRY_VOID(check_base_url(key("base_url"), options.base_url, options.allow_http));
  MR_TRY_VOID(check_timeouts(key("timeouts"), options.timeouts));
  if (!options.path.starts_with('/')) return wrong("path", "must begin with /");
  if (options.model.empty() || options.model.contains('@')) {
    return wrong("embed_model", "must be a name without @");
  }
  if (options.version.empty()) return wrong("embed_version", "must not be empty");
  if (options.dimensions < 0 || options.dimensions > kDimensionsMax) {
    return wrong("embed_dimensions", fmt::format("must be 0 to {}", kDimensionsMax));
  }
  if (options.inputs_max < 1 || options.inputs_max > kServiceInputsMax) {
    return wrong("embed_inputs_max", fmt::format("must be 1 to {}", kServiceInputsMax));
  }
  if (options.auth != OpenAiEmbedOptions::Auth::none && options.api_key.reveal().empty()) {
    return wrong("api_key", "is missing; auth = \"none\" is for servers without keys");
  }
  return ok();
}

OpenAiEmbeddings::OpenAiEmbeddings(http::Client& client, const Clock& clock,
                                   OpenAiEmbedOptions options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      name_(options_.name + ":" + options_.model),
      info_(info_of(options_)) {
  while (options_.base_url.ends_with('/')) options_.base_url.pop_back();
}

EmbedBatchLimits OpenAiEmbeddings::limits() const {
  return {.inputs_max = options_.inputs_max,
          .tokens_per_input_max = options_.input_tokens_max,
          .tokens_total_max = options_.request_tokens_max};
}

std::uint64_t OpenAiEmbeddings::count_tokens(std::string_view text) const {
  return options_.count_tokens ? options_.count_tokens(text) : estimate_tokens(text);
}

awaitable<Answer<EmbedAnswer>> OpenAiEmbeddings::embed(std::vector<std::string> texts,
                                                       CancelToken cancel) {
  if (auto wrong = check_embed_request(*this, texts)) co_return std::unexpected(*std::move(wrong));
  auto response = co_await exchange(&client_, make_request(texts),
                                    {.timeouts = options_.timeouts,
                                     .request_max_bytes = options_.request_max_bytes,
                                     .response_max_bytes = options_.response_max_bytes},
                                    std::move(cancel));
  if (!response) co_return std::unexpected(std::move(response).error());
  co_return read(texts, *response);
}

http::Request OpenAiEmbeddings::make_request(const std::vector<std::string>& texts) const {
  json::Array input;
  input.reserve(texts.size());
  for (const auto& text : texts) input.emplace_back(text);
  json::Object body{
      {"model", options_.model}, {"input", std::move(input)}, {"encoding_format", "base64"}};
  if (options_.dimensions > 0) body["dimensions"] = options_.dimensions;
  http::Request out{
      .method = "POST",
      .url = options_.base_url + options_.path,
      .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
      .body = to_json(body),
      .service = options_.name};
  const auto& key = options_.api_key.reveal();
  if (options_.auth == OpenAiEmbedOptions::Auth::bearer && !key.empty()) {
    out.headers.emplace_back("Authorization", "Bearer " + key);
  }
  if (options_.auth == OpenAiEmbedOptions::Auth::api_key_header) {
    out.headers.emplace_back("api-key", key);
  }
  return out;
}

Answer<EmbedAnswer> OpenAiEmbeddings::read(const std::vector<std::string>& texts,
                                           const http::Response& response) const {
  const auto body = body_json(response, options_.response_max_bytes);
  if (response.status != 200 || error_at(body, {"error"}) != nullptr) {
    return std::unexpected(read_refusal(texts, response, body));
  }
  const CallContext context{.service = Service::openai, .name = options_.name};
  const auto tokens = count_at(body, {"usage", "prompt_tokens"});
  EmbedAnswer answer{.usage = {.input = tokens.value_or(0), .reported = tokens.has_value()},
                     .response_id = std::string(response.header("x-request-id").value_or("")),
                     .model = text_at(body, {"model"}),
                     .rate = openai_rate_state(response)};
  const auto give_up = [&](CallFailure failure) {
    failure.status = response.status;
    failure.maybe_charged = true;
    failure.rate = answer.rate;
    failure.response_id = answer.response_id;
    if (answer.usage.reported) failure.usage = answer.usage;
    failure.message = fmt::format("{}: {}", options_.name, failure.message);
    return std::unexpected(std::move(failure));
  };
  const auto* data = array_at(body, {"data"});
  if (data == nullptr) return give_up(bad_answer(context, "no vectors", response.status));
  auto vectors = vectors_of(*data, texts.size());
  if (!vectors) return give_up(std::move(vectors).error());
  if (auto wrong = check_vectors(*vectors, texts.size(), info_.dimension)) {
    return give_up(*std::move(wrong));
  }
  answer.vectors = *std::move(vectors);
  return answer;
}

CallFailure OpenAiEmbeddings::read_refusal(const std::vector<std::string>& texts,
                                           const http::Response& response,
                                           const json::Value& body) const {
  std::string private_text;
  for (const auto& text : texts) private_text += text + "\n";
  const auto secrets = std::to_array<std::string_view>({options_.api_key.reveal()});
  const CallContext context{.service = Service::openai,
                            .name = options_.name,
                            .scrub = {.secrets = secrets, .private_text = private_text}};
  auto refusal = openai_refusal(body, response.status);
  read_retry_headers(response, clock_.wall(), refusal);
  auto failure = refused(context, refusal);
  if (response.status == 200) failure.maybe_charged = true;
  failure.rate = openai_rate_state(response);
  failure.response_id = std::string(response.header("x-request-id").value_or(""));
  return failure;
}

}  // namespace millrace::provider
