// OpenAiChat: chat completions of OpenAI and of all that speak its language: vLLM, Ollama, Azure,
// gateways.
//
// The differences between them are options: where the path is, how the key is sent, what the bound
// of the output is called, and whether the server can be held to a schema.
// Threading: any thread. Lifetime: client and clock outlive it; it outlives its calls.
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "http/client.h"
#include "provider/chat.h"
#include "provider/classify.h"
#include "provider/exchange.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

// How the form of the answer is asked for.
enum class StructuredOutput {
  json_schema,  // response_format with the schema, strict.
  json_object,  // response_format without it; the schema is part of the instructions.
  none,         // The schema is part of the instructions only.
};

struct OpenAiOptions {
  enum class Auth { bearer, api_key_header, none };  // api_key_header: Azure's "api-key".

  std::string name = "openai";
  std::string base_url = "https://api.openai.com/v1";
  std::string chat_path = "/chat/completions";  // May have a query: "?api-version=…".
  Secret<std::string> api_key = {};
  Auth auth = Auth::bearer;
  std::string organization = {};
  std::string project = {};
  StructuredOutput structured_output = StructuredOutput::json_schema;
  // Servers other than OpenAI know "max_tokens" only.
  std::string max_tokens_field = "max_completion_tokens";
  std::optional<double> temperature = {};  // Some models take none.
  std::optional<std::int64_t> seed = {};
  CallTimeouts timeouts = {};
  std::size_t request_max_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t response_max_bytes = std::size_t{16} * 1024 * 1024;
  bool allow_http = false;  // For a server on a network that is trusted.
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const OpenAiOptions& options);

class OpenAiChat final : public ChatProvider {
 public:
  OpenAiChat(http::Client& client, const Clock& clock, OpenAiOptions options);

  std::string_view name() const override { return options_.name; }
  awaitable<Answer<ChatAnswer>> chat(ChatRequest request, CancelToken cancel) override;

 private:
  http::Request make_request(const ChatRequest& request) const;
  Answer<ChatAnswer> read(const ChatRequest& request, const http::Response& response) const;
  CallFailure read_refusal(const ChatRequest& request, const http::Response& response,
                           const json::Value& body) const;

  http::Client& client_;
  const Clock& clock_;
  OpenAiOptions options_;
};

// Words, message and status of an error in any of the forms such servers use. `status` is the
// answer's; of an error within a 200 the error's own number counts.
Refusal openai_refusal(const json::Value& body, int status);

}  // namespace millrace::provider
