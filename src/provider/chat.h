// ChatProvider: asks a model one question and gives its whole answer.
//
// Flow: a pass makes a ChatRequest (instructions, input, the schema of the answer, perhaps the
// picture of a page); a provider sends it in its own form, checks that the model really ended
// ("200" alone is not success) and gives text, usage and the service's limits. What the text says
// is the caller's to check. Nothing is retried here.
// Threading: any thread. Lifetime: a provider outlives its calls.
#pragma once

#include "base/cancel.h"
#include "base/json.h"
#include "base/task.h"
#include "provider/call.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

struct PageImage {
  std::string media_type = "image/png";  // Or image/jpeg, image/webp, image/gif.
  std::string bytes = {};
  std::string detail = "auto";  // "low", "high": OpenAI's own.
};

struct ChatRequest {
  std::string model = {};
  std::string system = {};
  std::string user = {};         // What documents say: never in messages.
  std::string schema_name = {};  // "clinical.detect/1"; services get it in letters they allow.
  json::Value schema = {};       // Null: the answer is plain text.
  int max_output_tokens = 4096;
  std::optional<PageImage> image = {};
  std::chrono::milliseconds timeout{0};  // Of the whole call; 0: the provider's.
  std::string idempotency_key = {};      // Job, stage and generation: the same for a repetition.
  std::string correlation_id = {};
};

struct ChatAnswer {
  std::string text = {};
  Usage usage = {};
  std::string finish = {};  // As the service says it: "stop", "end_turn".
  std::string response_id = {};
  std::string model = {};  // That answered, with its version.
  RateState rate = {};
};

class ChatProvider {
 public:
  virtual ~ChatProvider() = default;
  virtual std::string_view name() const = 0;  // "openai", "anthropic"
  virtual awaitable<Answer<ChatAnswer>> chat(ChatRequest request, CancelToken cancel) = 0;
};

// An upper bound of what the call can take, for limiter and budget: bytes of all texts and of the
// schema, `image_tokens` for a picture, all of the output that is allowed.
Usage estimate_usage(const ChatRequest& request, std::uint64_t image_tokens = 2'500);

// Names of schemas and tools have letters, figures, _ and - only, and at most 64 of them.
std::string wire_name(std::string_view schema_name);

// For services that are told the form of the answer in words.
std::string schema_in_words(const json::Value& schema);

// permanent "bad_request" for what no service would take: found before anything is sent or paid.
std::optional<CallFailure> check_chat_request(const ChatRequest& request);

}  // namespace millrace::provider
