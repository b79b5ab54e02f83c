// Side: one service of the stand-in, as its clients see it: keys, questions, answers, refusals.
//
// Flow: StandIn finds the side by the path, asks it for the key and the question, and lets it say
// the answer or one of the troubles below in the service's own form. Sides have no state.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "ledger.h"
#include "wire_server.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

enum class Action {
  normal,
  throttle,          // 429, with Retry-After.
  throttle_bare,     // 429, without.
  slow_down,         // 429: ramped up too fast.
  quota,             // Money, in the service's own way.
  unavailable,       // 503, without Retry-After.
  unavailable_told,  // 503, with.
  overloaded,        // 529; of services without it their own overload.
  server_error,      // 500
  gateway,           // 502 with a page of HTML.
  auth,              // The key is not good any more.
  too_large,         // The question is more than the model can hold.
  redirect,          // 307 to somewhere else.
  cut,               // 200, and the connection ends within the body.
  reset_before,      // The connection is reset before anything was done.
  reset_after,       // The connection is reset after all was done, and charged.
  stall,             // Never an answer.
  slow,              // The second half of the body after a pause.
  refusal,           // 200: the model does not want to.
  length,            // 200: the answer was cut by its bound.
  content_filter,    // 200: a filter cut it.
  inner_error,       // 200 with an error in it; of Vision for one image.
  wrong_json,        // 200 with a body that is no JSON.
  wrong_shape,       // 200 with JSON of another form.
  bad_text,          // 200: what the model says is no JSON; of a picture, no annotation.
  invented,          // 200: what the model says is not in the question.
  echo,              // 400 with a message that repeats key and question.
  short_answer,      // 200: one vector is missing.
  duplicate_index,   // 200: two vectors for one text, none for another.
  wrong_index,       // 200: a vector for a text that was not sent.
  wrong_dimension,   // 200: one vector is longer than the others.
  not_a_number,      // 200: one vector holds a NaN.
  as_floats,         // 200: numbers, though base64 was asked for.
  custom,            // Status, headers and body of the step.
};

struct ActionName {
  Action action;
  std::string_view name;
};
inline constexpr auto kActions = std::to_array<ActionName>({
    {Action::normal, "normal"},
    {Action::throttle, "throttle"},
    {Action::throttle_bare, "throttle_bare"},
    {Action::slow_down, "slow_down"},
    {Action::quota, "quota"},
    {Action::unavailable, "unavailable"},
    {Action::unavailable_told, "unavailable_told"},
    {Action::overloaded, "overloaded"},
    {Action::server_error, "server_error"},
    {Action::gateway, "gateway"},
    {Action::auth, "auth"},
    {Action::too_large, "too_large"},
    {Action::redirect, "redirect"},
    {Action::cut, "cut"},
    {Action::reset_before, "reset_before"},
    {Action::reset_after, "reset_after"},
    {Action::stall, "stall"},
    {Action::slow, "slow"},
    {Action::refusal, "refusal"},
    {Action::length, "length"},
    {Action::content_filter, "content_filter"},
    {Action::inner_error, "inner_error"},
    {Action::wrong_json, "wrong_json"},
    {Action::wrong_shape, "wrong_shape"},
    {Action::bad_text, "bad_text"},
    {Action::invented, "invented"},
    {Action::echo, "echo"},
    {Action::short_answer, "short_answer"},
    {Action::duplicate_index, "duplicate_index"},
    {Action::wrong_index, "wrong_index"},
    {Action::wrong_dimension, "wrong_dimension"},
    {Action::not_a_number, "not_a_number"},
    {Action::as_floats, "as_floats"},
    {Action::custom, "custom"},
});

std::string_view to_string(Action action);
std::optional<Action> parse_action(std::string_view name);

// What /v1/embeddings takes in one request: OpenAI's own. Other servers take less.
struct EmbedBounds {
  std::uint64_t inputs = 2'048;
  std::uint64_t input_tokens = 8'192;
  std::uint64_t request_tokens = 300'000;
};

// What the stand-in's models can do.
struct ModelRules {
  std::set<std::string> models = {"stand-in", "gpt-4o-mini", "claude-sonnet-4-5"};
  std::uint64_t context_tokens = 128'000;
  EmbedBounds embed = {};
  // With the length of their vectors.
  std::map<std::string, std::size_t> embedding_models = {{"text-embedding-3-small", 1'536},
                                                         {"text-embedding-3-large", 3'072},
                                                         {"text-embedding-ada-002", 1'536},
                                                         {"stand-in-embed", 64}};
};

struct Question {
  std::string model = {};
  std::string system = {};
  std::string user = {};
  std::optional<json::Value> schema = {};
  std::string tool = {};  // Anthropic: the answer is this tool's input.
  std::uint64_t input_tokens = 0;
  std::uint64_t output_max = 0;
  std::vector<std::string> images = {};  // Bytes.
  // Of embeddings:
  std::vector<std::string> inputs = {};
  std::size_t dimensions = 0;
  bool as_base64 = false;
};

// What a side says besides the answer's text.
struct Saying {
  std::string id = {};
  std::string text = {};
  Action action = Action::normal;  // Of those that are answered 200.
};

struct Trouble {
  Action action = Action::server_error;
  std::string retry_after = "1";
  std::string repeated = {};  // Of echo.
};

class Side {
 public:
  virtual ~Side() = default;
  virtual std::string_view name() const = 0;
  // Empty: the request has none.
  virtual std::string key_of(const WireRequest& request) const = 0;
  virtual WireReply wrong_key(bool missing) const = 0;
  virtual std::expected<Question, WireReply> read(const WireRequest& request,
                                                  const ModelRules& rules) const = 0;
  virtual WireReply say(const Question& question, const Saying& saying) const = 0;
  virtual WireReply fail(const Trouble& trouble) const = 0;
  virtual void add_limits(WireReply& reply, const Admission& admission, Clock::Wall now) const = 0;
};

std::unique_ptr<Side> make_openai_side();
std::unique_ptr<Side> make_anthropic_side();
std::unique_ptr<Side> make_vision_side();
std::unique_ptr<Side> make_embeddings_side();

// About what a tokenizer makes of it; never more than its bytes.
inline std::uint64_t tokens_of(std::string_view text) { return (text.size() + 3) / 4; }

// "2026-08-01T12:00:00Z"
std::string rfc3339(Clock::Wall time);
// "1m30.25s", as Go prints it.
std::string go_duration(std::chrono::milliseconds time);
WireReply json_reply(int status, const json::Value& body);
std::optional<std::string> base64_decode(std::string_view text);
std::string base64_encode(std::string_view bytes);
// A member of the JSON of a request; empty when it is not a text.
std::string member(const json::Value& value, std::string_view name);

}  // namespace millrace::test
