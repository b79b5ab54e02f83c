// StandIn: OpenAI (chat, embeddings), Anthropic and Google Vision on one loopback port, as strict
// as the real ones.
//
// Flow: without a script every request is judged by the services' own rules (keys, limits, sizes,
// schemas, models) and answered from what it says (pass_answer.h). A script says for the next
// requests what goes wrong; a random mode does so by rates, reproducibly. Every request is
// recorded. The same can be done over HTTP below /control, which is how programs of campaigns use
// it (provider_stand_in). README.md lists what it enforces and what not.
//
// Threading: the thread that runs `io`. Lifetime: the clock outlives it.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "ledger.h"
#include "paid_texts.h"
#include "side.h"
#include "wire_server.h"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

// In an image: the text that Vision "sees" follows.
inline constexpr std::string_view kVisionMark = "\nSTAND-IN-TEXT:";

struct Step {
  Action action = Action::normal;
  std::string service = {};       // Only for this one: "openai", "embeddings", …
  std::string retry_after = "1";  // Of throttle and unavailable_told.
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds pause{50};  // Of slow.
  int status = 500;                     // Of custom.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

struct StandInOptions {
  std::uint16_t port = 0;  // 0: one that is free.
  std::map<std::string, KeyLimits> keys = {{"test-key", {}}};
  std::chrono::milliseconds window{60'000};
  ModelRules models = {};
};

struct RandomMode {
  std::uint64_t seed = 1;
  std::map<Action, double> rates = {};  // Chances of a request; the rest is normal.
  std::chrono::milliseconds latency_min{0};
  std::chrono::milliseconds latency_max{0};
};

struct Recorded {
  std::uint64_t number = 0;
  std::chrono::milliseconds at{0};  // Since the start.
  std::string service = {};
  std::string key = {};
  std::string model = {};
  std::uint64_t tokens = 0;  // That the limits count: input and the most of output.
  std::size_t inputs = 0;    // Texts to embed.
  std::string idempotency_key = {};
  std::string correlation_id = {};
  Action action = Action::normal;
  int status = 0;            // 0: no answer.
  WireRequest request = {};  // Of the last few hundred; its body is empty later.
};

class StandIn {
 public:
  StandIn(boost::asio::io_context& io, const Clock& clock, StandInOptions options = {});
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  std::uint16_t port() const;
  std::string url() const;

  void push(Step step);
  void push(Action action) { push(Step{.action = action}); }
  void set_random(RandomMode mode);
  void set_limits(const std::string& key, KeyLimits limits);
  Result<void> apply(const json::Object& settings);  // As /control/settings takes them.
  void reset();  // Script, random mode and records; limits stay.

  const std::deque<Recorded>& requests() const;
  const KeyUse& use(const std::string& key = "test-key") const;
  std::uint64_t open_max() const;
  const PaidTexts& paid() const;
  json::Object state() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;  // Shared with exchanges that end after it.
  std::unique_ptr<WireServer> server_;
};

}  // namespace millrace::test
