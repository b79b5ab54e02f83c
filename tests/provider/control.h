// The stand-in by remote control: JSON in and out below /control, and the settings of its program.
//
//   POST /control/settings  {"keys":{"k":{"requests":60,"tokens":100000,"concurrency":4}},
//                            "window_ms":60000,"models":["m"],"context_tokens":128000,
//                            "embedding_models":{"m":1536},
//                            "embed":{"inputs":2048,"input_tokens":8192,"request_tokens":300000},
//                            "random":{"seed":1,"rates":{"throttle":0.05},"latency_ms":[5,50]}}
//   POST /control/script    {"steps":[{"do":"throttle","retry_after":"2","service":"openai",
//                                      "times":3,"delay_ms":0,"status":500,"body":"…"}]}
//   POST /control/reset     script, random mode and records are gone; limits stay
//   GET  /control/state     figures: per key the most in any window, the most at once, actions
//   GET  /control/texts?over=N       texts embedded more than N times, by SHA-256, at most 10 000
//   GET  /control/requests?after=N   records from number N on, without bodies, at most 10 000
#pragma once

#include "stand_in.h"

namespace millrace::test {

class Controlled {
 public:
  virtual void add_step(Step step) = 0;
  virtual void set_random(RandomMode mode) = 0;
  virtual void set_limits(const std::string& key, KeyLimits limits) = 0;
  virtual void set_window(std::chrono::milliseconds window) = 0;
  virtual void add_model(std::string model) = 0;
  virtual void add_embedding_model(std::string model, std::size_t dimensions) = 0;
  virtual const PaidTexts& paid() const = 0;
  virtual void set_embed_bounds(EmbedBounds bounds) = 0;
  virtual void set_context(std::uint64_t tokens) = 0;
  virtual void reset() = 0;
  virtual const std::deque<Recorded>& records() const = 0;
  virtual json::Object state() const = 0;

 protected:
  ~Controlled() = default;
};

// The body of /control/settings.
Result<void> apply_settings(Controlled& core, const json::Object& settings);

WireReply control(Controlled& core, const WireRequest& request);

}  // namespace millrace::test
