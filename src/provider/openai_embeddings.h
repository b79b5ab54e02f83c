// OpenAiEmbeddings: vectors of OpenAI's embeddings and of all that speak its language.
//
// Flow: the texts of a batch go out in one request that asks for base64; the answer may have
// numbers all the same. Vectors are matched by `index`, never by position, and an answer with one
// too few, one twice, one of another length or one that holds no number is refused as a whole
// (G12). A text's tokens are bounded by its bytes (E13) unless a tokenizer is given.
//
// A failure with error_type "too_large" (kTooLarge) says that the service counts otherwise than we
// do: the batch is to be split and asked for again, a single text is to be cut. All others are as
// classify.h says.
// Threading: any thread. Lifetime: client and clock outlive it; it outlives its calls.
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "http/client.h"
#include "provider/embeddings.h"
#include "provider/exchange.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::provider {

struct OpenAiEmbedOptions {
  enum class Auth { bearer, api_key_header, none };  // api_key_header: Azure's "api-key".

  std::string name = "openai";
  std::string base_url = "https://api.openai.com/v1";
  std::string path = "/embeddings";  // May have a query: "?api-version=…".
  Secret<std::string> api_key = {};
  Auth auth = Auth::bearer;
  std::string model = "text-embedding-3-small";
  std::string version = "1";  // Ours: raised when vectors of the same model must not be mixed.
  // Shorter vectors of a model that can make them; they are vectors of another model (`model@256`).
  int dimensions = 0;            // 0: as the model makes them.
  std::size_t inputs_max = 256;  // The service takes 2048 (B-15).
  std::uint64_t input_tokens_max = 8'192;
  std::uint64_t request_tokens_max = 300'000;
  // Nothing: a token has at least a byte.
  std::function<std::uint64_t(std::string_view)> count_tokens = {};
  std::string tokenizer = "bytes";  // Names it.
  CallTimeouts timeouts = {};
  std::size_t request_max_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t response_max_bytes = std::size_t{64} * 1024 * 1024;
  bool allow_http = false;  // For a server on a network that is trusted.
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const OpenAiEmbedOptions& options);

class OpenAiEmbeddings final : public EmbeddingProvider {
 public:
  OpenAiEmbeddings(http::Client& client, const Clock& clock, OpenAiEmbedOptions options);

  std::string_view name() const override { return name_; }
  const EmbeddingModelInfo& info() const override { return info_; }
  EmbedBatchLimits limits() const override;
  std::string_view tokenizer() const override { return options_.tokenizer; }
  std::uint64_t count_tokens(std::string_view text) const override;
  bool paid() const override { return true; }
  awaitable<Answer<EmbedAnswer>> embed(std::vector<std::string> texts, CancelToken cancel) override;

 private:
  http::Request make_request(const std::vector<std::string>& texts) const;
  Answer<EmbedAnswer> read(const std::vector<std::string>& texts,
                           const http::Response& response) const;
  CallFailure read_refusal(const std::vector<std::string>& texts, const http::Response& response,
                           const json::Value& body) const;

  http::Client& client_;
  const Clock& clock_;
  OpenAiEmbedOptions options_;
  std::string name_;  // "openai:text-embedding-3-small"
  EmbeddingModelInfo info_;
};

// Packed little-endian float32, as the service's base64 holds them. Nothing: not such a text.
std::optional<std::vector<float>> decode_vector(std::string_view base64);

}  // namespace millrace::provider
