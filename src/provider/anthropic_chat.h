// AnthropicChat: Anthropic's messages.
//
// An answer in a given form is asked for as the input of a tool that the model must use; the tool's
// input is the answer. Instants of the limits become durations when they arrive.
// Threading: any thread. Lifetime: client and clock outlive it; it outlives its calls.
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "http/client.h"
#include "provider/chat.h"
#include "provider/classify.h"
#include "provider/exchange.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

struct AnthropicOptions {
  // instruction: the schema is part of the system prompt, the answer is text.
  enum class StructuredOutput { tool, instruction };

  std::string name = "anthropic";
  std::string base_url = "https://api.anthropic.com";
  std::string messages_path = "/v1/messages";
  std::string version = "2023-06-01";
  Secret<std::string> api_key = {};
  StructuredOutput structured_output = StructuredOutput::tool;
  std::optional<double> temperature = {};
  CallTimeouts timeouts = {};
  std::size_t request_max_bytes = std::size_t{32} * 1000 * 1000;  // The service's own bound.
  std::size_t response_max_bytes = std::size_t{16} * 1024 * 1024;
  bool allow_http = false;
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const AnthropicOptions& options);

class AnthropicChat final : public ChatProvider {
 public:
  AnthropicChat(http::Client& client, const Clock& clock, AnthropicOptions options);

  std::string_view name() const override { return options_.name; }
  awaitable<Answer<ChatAnswer>> chat(ChatRequest request, CancelToken cancel) override;

 private:
  http::Request make_request(const ChatRequest& request) const;
  Answer<ChatAnswer> read(const ChatRequest& request, const http::Response& response) const;
  CallFailure read_refusal(const ChatRequest& request, const http::Response& response,
                           const json::Value& body) const;

  http::Client& client_;
  const Clock& clock_;
  AnthropicOptions options_;
};

// {"type":"error","error":{"type","message","details":{"error_code"}}}
Refusal anthropic_refusal(const json::Value& body, int status);

}  // namespace millrace::provider
