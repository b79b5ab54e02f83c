// The clients and the stand-in on one thread: what happens between them is what the test says.
#pragma once

#include "base/clock.h"
#include "base/run.h"
#include "http/client.h"
#include "provider/anthropic_chat.h"
#include "provider/openai_chat.h"
#include "provider/vision_ocr.h"
#include "stand_in.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millrace::test {

inline constexpr std::string_view kKey = "sk-test-0123456789abcdef";
inline constexpr std::string_view kPage =
    "== page 1, 9 words ==\n0| Name: Zo\u00eb M\u00fcller\n3| Metformin 500 mg twice daily\n";

class ProviderWorld : public testing::Test {
 protected:
  ProviderWorld() { timeouts.connect = std::chrono::milliseconds(2'000); }

  provider::OpenAiOptions openai_options() const {
    return {.base_url = stand_in.url() + "/v1",
            .api_key = Secret<std::string>(std::string(kKey)),
            .timeouts = timeouts};
  }
  provider::AnthropicOptions anthropic_options() const {
    return {.base_url = stand_in.url(),
            .api_key = Secret<std::string>(std::string(kKey)),
            .timeouts = timeouts};
  }
  provider::VisionOptions vision_options() const {
    return {.base_url = stand_in.url(),
            .credential = Secret<std::string>(std::string(kKey)),
            .timeouts = timeouts};
  }

  static provider::ChatRequest question() {
    provider::ChatRequest request;
    request.model = "stand-in";
    request.system = "Read.";
    request.user = kPage;
    request.max_output_tokens = 2'000;
    request.idempotency_key = "job-1:detect:1";
    request.correlation_id = "cid-7";
    return request;
  }

  // A schema that a strict mode takes.
  static provider::ChatRequest question_with_schema() {
    auto request = question();
    request.schema_name = "small.answer/1";
    request.schema = parse_json(R"({"type":"object","properties":{"ok":{"type":"boolean"},
                       "note":{"type":["string","null"]}},"required":["ok","note"],
                       "additionalProperties":false})")
                         .value();
    return request;
  }

  provider::Answer<provider::ChatAnswer> ask(provider::ChatProvider& chat,
                                             provider::ChatRequest request,
                                             CancelToken cancel = {}) {
    return run_blocking(io, chat.chat(std::move(request), std::move(cancel)));
  }

  provider::Answer<provider::ChatAnswer> ask_openai(provider::ChatRequest request = question()) {
    provider::OpenAiChat chat(client, clock, openai_options());
    return ask(chat, std::move(request));
  }
  provider::Answer<provider::ChatAnswer> ask_anthropic(provider::ChatRequest request = question()) {
    provider::AnthropicChat chat(client, clock, anthropic_options());
    return ask(chat, std::move(request));
  }
  provider::Answer<provider::VisionAnswer> ask_vision(provider::VisionRequest request) {
    provider::GoogleVisionOcr ocr(client, clock, vision_options());
    return run_blocking(io, ocr.annotate(std::move(request), {}));
  }

  boost::asio::io_context io{1};
  SystemClock clock;
  StandIn stand_in{io, clock, {.keys = {{std::string(kKey), {}}}}};
  http::Client client{io.get_executor()};
  provider::CallTimeouts timeouts;
};

}  // namespace millrace::test
