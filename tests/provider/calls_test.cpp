// The clients of models and OCR against the stand-in: what is sent, and what comes of every script.
#include "base/random.h"
#include "provider/price.h"
#include "provider_world.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace millrace::test {
namespace {

using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using provider::CallFailure;
using testing::HasSubstr;
using testing::Not;
using Kind = CallFailure::Kind;

class Calls : public ProviderWorld {
 protected:
  json::Value sent() const {
    return parse_json(stand_in.requests().back().request.body, {.max_bytes = 64u << 20}).value();
  }
  std::string sent_header(const std::string& name) const {
    return stand_in.requests().back().request.header(name);
  }
};

TEST_F(Calls, OpenAiGivesTextUsageAndLimits) {
  stand_in.set_limits(std::string(kKey), {.requests = 100, .tokens = 50'000});
  const auto answer = ask_openai();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->text, HasSubstr("stand-in"));
  EXPECT_EQ(answer->finish, "stop");
  EXPECT_EQ(answer->model, "stand-in-2026-01-01");
  EXPECT_EQ(answer->response_id, "standin-0");
  EXPECT_TRUE(answer->usage.reported);
  EXPECT_GT(answer->usage.input, 0u);
  EXPECT_GT(answer->usage.output, 0u);
  EXPECT_EQ(answer->rate.requests.limit, 100u);
  EXPECT_EQ(answer->rate.requests.remaining, 99u);
  EXPECT_GT(answer->rate.tokens.reset, 0ms);
}

TEST_F(Calls, AnthropicGivesTextUsageAndLimits) {
  stand_in.set_limits(std::string(kKey), {.requests = 100, .tokens = 50'000});
  const auto answer = ask_anthropic();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->text, HasSubstr("stand-in"));
  EXPECT_EQ(answer->finish, "end_turn");
  EXPECT_TRUE(answer->usage.reported);
  EXPECT_EQ(answer->rate.requests.limit, 100u);
  ASSERT_TRUE(answer->rate.tokens.reset);  // An instant on the wire, a duration here.
  EXPECT_LE(*answer->rate.tokens.reset, 60s);
}

TEST_F(Calls, TheEstimateIsAnUpperBoundOfWhatIsCounted) {  // E13
  for (const auto& request : {question(), question_with_schema()}) {
    const auto bound = provider::estimate_usage(request);
    for (const auto& answer : {ask_openai(request), ask_anthropic(request)}) {
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_LE(answer->usage.input, bound.input);
      EXPECT_LE(answer->usage.output, bound.output);
    }
  }
}

TEST_F(Calls, CarryTheKeyOfTheirIntent) {  // F08
  ASSERT_TRUE(ask_openai());
  EXPECT_EQ(sent_header("idempotency-key"), "job-1:detect:1");
  EXPECT_EQ(sent_header("x-client-request-id"), "cid-7");
  EXPECT_EQ(sent_header("authorization"), "Bearer " + std::string(kKey));
  ASSERT_TRUE(ask_anthropic());
  EXPECT_EQ(sent_header("idempotency-key"), "job-1:detect:1");
  EXPECT_EQ(sent_header("x-api-key"), kKey);
  EXPECT_EQ(sent_header("anthropic-version"), "2023-06-01");
  EXPECT_EQ(sent_header("authorization"), "");
}

TEST_F(Calls, OpenAiIsHeldToTheSchema) {
  const auto answer = ask_openai(question_with_schema());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, R"({"ok":false,"note":null})");
  const auto body = sent();
  const auto& format = body.at("response_format").at("json_schema");
  EXPECT_EQ(format.at("name"), "small_answer_1");
  EXPECT_EQ(format.at("strict"), true);
  EXPECT_EQ(format.at("schema"), question_with_schema().schema);
  EXPECT_EQ(body.at("max_completion_tokens"), 2'000);
}

TEST_F(Calls, ServersWithoutSchemasAreToldInWords) {
  using provider::StructuredOutput;
  for (const auto mode : {StructuredOutput::json_object, StructuredOutput::none}) {
    auto options = openai_options();
    options.structured_output = mode;
    options.max_tokens_field = "max_tokens";
    options.temperature = 0;
    provider::OpenAiChat chat(client, clock, options);
    ASSERT_TRUE(ask(chat, question_with_schema()));
    const auto body = sent();
    EXPECT_EQ(body.as_object().contains("response_format"), mode == StructuredOutput::json_object);
    EXPECT_THAT(std::string(body.at("messages").at(0).at("content").as_string()),
                HasSubstr(R"("additionalProperties":false)"));
    EXPECT_EQ(body.at("max_tokens"), 2'000);
    EXPECT_EQ(body.at("temperature"), 0);
  }
}

TEST_F(Calls, AzureTakesItsKeyInAHeaderOfItsOwn) {
  auto options = openai_options();
  options.base_url = stand_in.url() + "/openai/deployments/d";
  options.chat_path = "/chat/completions?api-version=2026-01-01";
  options.auth = provider::OpenAiOptions::Auth::api_key_header;
  provider::OpenAiChat chat(client, clock, options);
  ASSERT_TRUE(ask(chat, question()));
  EXPECT_EQ(sent_header("api-key"), kKey);
  EXPECT_EQ(sent_header("authorization"), "");
  EXPECT_EQ(stand_in.requests().back().request.query, "api-version=2026-01-01");
}

TEST_F(Calls, AnthropicAnswersByTheToolOrInText) {
  const auto by_tool = ask_anthropic(question_with_schema());
  ASSERT_TRUE(by_tool) << by_tool.error().message;
  EXPECT_EQ(by_tool->text, R"({"ok":false,"note":null})");
  EXPECT_EQ(by_tool->finish, "tool_use");
  EXPECT_EQ(sent().at("tool_choice").at("name"), "small_answer_1");
  auto options = anthropic_options();
  options.structured_output = provider::AnthropicOptions::StructuredOutput::instruction;
  provider::AnthropicChat chat(client, clock, options);
  const auto in_text = ask(chat, question_with_schema());
  ASSERT_TRUE(in_text) << in_text.error().message;
  EXPECT_EQ(in_text->finish, "end_turn");
  EXPECT_FALSE(sent().as_object().contains("tools"));
}

TEST_F(Calls, APictureGoesAlong) {
  auto request = question();
  request.image = provider::PageImage{.media_type = "image/jpeg", .bytes = "\xff\xd8picture"};
  ASSERT_TRUE(ask_openai(request));
  EXPECT_THAT(
      std::string(
          sent().at("messages").at(1).at("content").at(1).at("image_url").at("url").as_string()),
      testing::StartsWith("data:image/jpeg;base64,/9hwaWN0dXJl"));
  ASSERT_TRUE(ask_anthropic(request));
  EXPECT_EQ(sent().at("messages").at(0).at("content").at(0).at("source").at("media_type"),
            "image/jpeg");
}

TEST_F(Calls, WhatCannotDoIsNotSent) {
  auto request = question();
  request.max_output_tokens = 0;
  EXPECT_EQ(ask_openai(request).error().kind, Kind::permanent);
  request = question();
  request.model = "";
  EXPECT_EQ(ask_anthropic(request).error().error_type, "bad_request");
  request = question();
  request.idempotency_key = "a\r\nX-Evil: 1";
  EXPECT_EQ(ask_openai(request).error().kind, Kind::permanent);
  request = question();
  request.image = provider::PageImage{.media_type = "image/tiff", .bytes = "II"};
  EXPECT_EQ(ask_openai(request).error().kind, Kind::permanent);
  auto options = openai_options();
  options.request_max_bytes = 10;
  provider::OpenAiChat chat(client, clock, options);
  EXPECT_EQ(ask(chat, question()).error().error_type, "too_large");
  EXPECT_TRUE(stand_in.requests().empty());
}

struct Expected {
  Action action;
  Kind kind;
  std::string error_type;
  int status;
  bool maybe_charged = false;
  std::optional<std::chrono::milliseconds> retry_after = {};
};

void expect(const Expected& expected, const CallFailure& failure) {
  EXPECT_EQ(to_string(failure.kind), to_string(expected.kind)) << failure.message;
  EXPECT_EQ(failure.error_type, expected.error_type) << failure.message;
  EXPECT_EQ(failure.status, expected.status) << failure.message;
  EXPECT_EQ(failure.maybe_charged, expected.maybe_charged) << failure.message;
  EXPECT_EQ(failure.retry_after, expected.retry_after) << failure.message;
  EXPECT_FALSE(failure.message.empty());
  // Neither the key nor what the page says gets into a message, whatever the service repeats.
  EXPECT_THAT(failure.message, Not(HasSubstr(kKey)));
  EXPECT_THAT(failure.message, Not(HasSubstr("M\u00fcller")));
  EXPECT_THAT(failure.message, Not(HasSubstr("Metformin")));
}

TEST_F(Calls, EveryScriptOfOpenAiEndsAsItsTableSays) {
  const std::vector<Expected> scripts = {
      {Action::throttle, Kind::throttled, "rate_limit", 429, false, 2s},
      {Action::throttle_bare, Kind::throttled, "rate_limit", 429},
      {Action::slow_down, Kind::throttled, "slow_down", 429},
      {Action::quota, Kind::blocked, "quota", 429},
      {Action::unavailable, Kind::retry, "overloaded", 503},
      {Action::unavailable_told, Kind::throttled, "overloaded", 503, false, 2s},
      {Action::server_error, Kind::retry, "server_error", 500},
      {Action::gateway, Kind::retry, "server_error", 502, true},
      {Action::auth, Kind::blocked, "auth", 401},
      {Action::too_large, Kind::permanent, "too_large", 400},
      {Action::redirect, Kind::permanent, "redirect", 307},
      {Action::cut, Kind::unknown, "connection_lost", 200, true},
      {Action::reset_before, Kind::unknown, "connection_lost", 0, true},
      {Action::reset_after, Kind::unknown, "connection_lost", 0, true},
      {Action::refusal, Kind::permanent, "refusal", 200, true},
      {Action::length, Kind::permanent, "truncated", 200, true},
      {Action::content_filter, Kind::permanent, "content_filter", 200, true},
      {Action::inner_error, Kind::retry, "server_error", 502, true},
      {Action::wrong_json, Kind::retry, "bad_answer", 200, true},
      {Action::wrong_shape, Kind::retry, "bad_answer", 200, true},
      {Action::echo, Kind::permanent, "bad_request", 400},
  };
  for (const auto& script : scripts) {
    SCOPED_TRACE(to_string(script.action));
    stand_in.push(Step{.action = script.action, .retry_after = "2"});
    const auto answer = ask_openai();
    ASSERT_FALSE(answer);
    expect(script, answer.error());
    EXPECT_TRUE(ask_openai()) << "the next call is not harmed";
  }
}

TEST_F(Calls, EveryScriptOfAnthropicEndsAsItsTableSays) {
  const std::vector<Expected> scripts = {
      {Action::throttle, Kind::throttled, "rate_limit", 429, false, 2s},
      {Action::throttle_bare, Kind::throttled, "rate_limit", 429},
      {Action::quota, Kind::blocked, "quota", 429},
      {Action::unavailable, Kind::retry, "server_error", 503},
      {Action::overloaded, Kind::throttled, "overloaded", 529},
      {Action::server_error, Kind::retry, "server_error", 500},
      {Action::gateway, Kind::retry, "server_error", 502, true},
      {Action::auth, Kind::blocked, "auth", 401},
      {Action::too_large, Kind::permanent, "too_large", 400},
      {Action::redirect, Kind::permanent, "redirect", 307},
      {Action::cut, Kind::unknown, "connection_lost", 200, true},
      {Action::reset_before, Kind::unknown, "connection_lost", 0, true},
      {Action::reset_after, Kind::unknown, "connection_lost", 0, true},
      {Action::refusal, Kind::permanent, "refusal", 200, true},
      {Action::length, Kind::permanent, "truncated", 200, true},
      {Action::inner_error, Kind::throttled, "overloaded", 500},
      {Action::wrong_json, Kind::retry, "bad_answer", 200, true},
      {Action::wrong_shape, Kind::retry, "bad_answer", 200, true},
      {Action::echo, Kind::permanent, "bad_request", 400},
  };
  for (const auto& script : scripts) {
    SCOPED_TRACE(to_string(script.action));
    stand_in.push(Step{.action = script.action, .retry_after = "2"});
    const auto answer = ask_anthropic();
    ASSERT_FALSE(answer);
    expect(script, answer.error());
    EXPECT_TRUE(ask_anthropic()) << "the next call is not harmed";
  }
}

TEST_F(Calls, EveryScriptOfVisionEndsAsItsTableSays) {
  const std::vector<Expected> scripts = {
      {Action::throttle, Kind::throttled, "rate_limit", 429, false, 2s},
      {Action::throttle_bare, Kind::throttled, "rate_limit", 429},
      {Action::quota, Kind::blocked, "quota", 403},
      {Action::unavailable, Kind::retry, "unavailable", 503},
      {Action::unavailable_told, Kind::throttled, "unavailable", 503, false, 2s},
      {Action::server_error, Kind::retry, "server_error", 500},
      {Action::gateway, Kind::retry, "server_error", 502, true},
      {Action::auth, Kind::blocked, "auth", 400},
      {Action::too_large, Kind::permanent, "bad_request", 400},
      {Action::cut, Kind::unknown, "connection_lost", 200, true},
      {Action::reset_after, Kind::unknown, "connection_lost", 0, true},
      {Action::wrong_json, Kind::retry, "bad_answer", 200, true},
      {Action::wrong_shape, Kind::retry, "bad_answer", 200, true},
      {Action::echo, Kind::permanent, "bad_request", 400},
  };
  for (const auto& script : scripts) {
    SCOPED_TRACE(to_string(script.action));
    stand_in.push(Step{.action = script.action, .retry_after = "2"});
    const auto answer = ask_vision({.images = {"png"}});
    ASSERT_FALSE(answer);
    expect(script, answer.error());
  }
}

TEST_F(Calls, WhatWasUsedIsKnownAlsoOfAnAnswerThatIsNoUse) {  // E08
  stand_in.push(Action::length);
  stand_in.push(Action::refusal);
  for (int i = 0; i < 2; ++i) {
    const auto answer = ask_openai();
    ASSERT_FALSE(answer);
    ASSERT_TRUE(answer.error().usage);
    EXPECT_GT(answer.error().usage->input, 0u);
    EXPECT_FALSE(answer.error().response_id.empty());
  }
}

TEST_F(Calls, AnAnswerLongerThanAllowedIsTruncatedNotTaken) {
  auto request = question_with_schema();
  request.max_output_tokens = 2;
  EXPECT_EQ(ask_openai(request).error().error_type, "truncated");
  EXPECT_EQ(ask_anthropic(request).error().error_type, "truncated");
}

TEST_F(Calls, TextThatIsNoJsonIsTheCallersToRefuse) {
  stand_in.push(Action::bad_text);
  const auto answer = ask_openai(question_with_schema());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(parse_json(answer->text).has_value());
}

TEST_F(Calls, SilenceEndsWithTheTimeForTheFirstByte) {
  timeouts.first_byte = 100ms;
  stand_in.push(Action::stall);
  const auto answer = ask_openai();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::unknown);
  EXPECT_EQ(answer.error().error_type, "timeout");
  EXPECT_TRUE(answer.error().maybe_charged);
}

TEST_F(Calls, ABodyThatStopsEndsWithTheIdleTime) {
  timeouts.idle = 100ms;
  stand_in.push(Step{.action = Action::slow, .pause = 20s});
  const auto answer = ask_openai();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::unknown);
  EXPECT_EQ(answer.error().error_type, "timeout");
}

TEST_F(Calls, ASlowBodyThatGoesOnIsRead) {
  stand_in.push(Step{.action = Action::slow, .pause = 50ms});
  EXPECT_TRUE(ask_openai());
}

TEST_F(Calls, TheWholeCallHasATimeToo) {
  stand_in.push(Step{.action = Action::slow, .pause = 20s});
  auto request = question();
  request.timeout = 150ms;  // Shorter than the provider's, idle time included.
  const auto answer = ask_anthropic(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::unknown);
  EXPECT_EQ(answer.error().error_type, "timeout");
}

TEST_F(Calls, NobodyThereIsTriedAgain) {
  auto options = openai_options();
  options.base_url = "http://127.0.0.1:1/v1";
  provider::OpenAiChat chat(client, clock, options);
  const auto answer = ask(chat, question());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::retry);
  EXPECT_EQ(answer.error().error_type, "connection");
  EXPECT_FALSE(answer.error().maybe_charged);
}

TEST_F(Calls, CancellingTellsWhetherItHadBeenSent) {
  provider::OpenAiChat chat(client, clock, openai_options());
  CancelSource before;
  before.cancel("lease lost");
  auto answer = ask(chat, question(), before.token());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::cancelled);
  EXPECT_FALSE(answer.error().maybe_charged);
  EXPECT_TRUE(stand_in.requests().empty());

  stand_in.push(Action::stall);
  CancelSource during;
  const auto cancel_when_sent = [&]() -> awaitable<void> {
    while (stand_in.requests().empty()) co_await clock.sleep_for(1ms);
    during.cancel("lease lost");
  };
  const auto both = [&]() -> awaitable<provider::Answer<provider::ChatAnswer>> {
    co_return co_await (chat.chat(question(), during.token()) && cancel_when_sent());
  };
  answer = run_blocking(io, both());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::cancelled);
  EXPECT_TRUE(answer.error().maybe_charged);
  EXPECT_THAT(answer.error().message, HasSubstr("lease lost"));
}

TEST_F(Calls, AnEndlessAnswerIsGivenUp) {
  auto options = openai_options();
  options.response_max_bytes = 10'000;
  provider::OpenAiChat chat(client, clock, options);
  stand_in.push(Step{.action = Action::custom, .status = 200, .body = std::string(100'000, 'x')});
  const auto answer = ask(chat, question());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_type, "answer_too_large");
  EXPECT_EQ(answer.error().kind, Kind::permanent);
  EXPECT_TRUE(answer.error().maybe_charged);
}

TEST_F(Calls, StatusesThatNobodyKnowsAreStillAnswers) {
  for (const int status : {299, 418, 529, 599}) {
    stand_in.push(Step{.action = Action::custom, .status = status, .body = "?"});
    const auto answer = ask_openai();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().status, status);
  }
}

// Compatible servers send every member, also when it says nothing.
TEST_F(Calls, AnEmptyErrorBesideAnAnswerIsNone) {
  for (const auto* error : {"null", R"("")", "{}", "[]", "false", "0", R"({"code":0})",
                            R"({"message":"","type":"","param":null,"code":null})"}) {
    SCOPED_TRACE(error);
    const auto reply = [&](std::string_view rest) {
      return Step{.action = Action::custom,
                  .status = 200,
                  .headers = {{"Content-Type", "application/json"}},
                  .body = fmt::format(R"({{"error":{},{}}})", error, rest)};
    };
    stand_in.push(reply(R"("id":"1","choices":[{"finish_reason":"stop",
                           "message":{"content":"said","refusal":null}}])"));
    const auto answer = ask_openai();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->text, "said");
    stand_in.push(reply(R"("type":"message","stop_reason":"end_turn",
                           "content":[{"type":"text","text":"said"}])"));
    const auto other = ask_anthropic();
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->text, "said");
    stand_in.push(reply(fmt::format(R"("responses":[{{"error":{}}}])", error)));
    const auto seen = ask_vision({.images = {"png"}});
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_TRUE(seen->images.front()) << seen->images.front().error().message;
  }
}

Step said(std::string body) {
  return {.action = Action::custom,
          .status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(body)};
}

// Whoever counts tokens has worked: to ask again would be to buy the same again.
TEST_F(Calls, NoAnswerIsForGoodWhereItWasPaidFor) {  // E08
  const auto expect_end = [](const CallFailure& failure, bool paid) {
    EXPECT_EQ(to_string(failure.kind), to_string(paid ? Kind::permanent : Kind::retry))
        << failure.message;
    EXPECT_EQ(failure.error_type, "bad_answer");
    EXPECT_EQ(failure.status, 200);
    EXPECT_TRUE(failure.maybe_charged);
    EXPECT_EQ(failure.usage ? failure.usage->total() : 0, paid ? 7u : 0u);
  };
  for (const auto* rest :
       {R"("id":"1")", R"("choices":[])", R"("choices":null)",
        R"("choices":[{"finish_reason":"odd","message":{"content":null}}])",
        R"("choices":[{"finish_reason":null,"message":{"content":""}}])",
        R"("choices":[{"finish_reason":"error","message":{"content":"half an ans"}}])"}) {
    SCOPED_TRACE(rest);
    stand_in.push(said(fmt::format("{{{}}}", rest)));
    expect_end(ask_openai().error(), false);
    stand_in.push(
        said(fmt::format(R"({{{},"usage":{{"prompt_tokens":0,"completion_tokens":0}}}})", rest)));
    expect_end(ask_openai().error(), false);
    stand_in.push(
        said(fmt::format(R"({{{},"usage":{{"prompt_tokens":3,"completion_tokens":4}}}})", rest)));
    expect_end(ask_openai().error(), true);
  }
  for (const auto* rest : {R"("type":"message")", R"("stop_reason":"odd","content":[])",
                           R"("stop_reason":null,"content":[{"type":"text","text":"half"}])"}) {
    SCOPED_TRACE(rest);
    stand_in.push(said(fmt::format("{{{}}}", rest)));
    expect_end(ask_anthropic().error(), false);
    stand_in.push(
        said(fmt::format(R"({{{},"usage":{{"input_tokens":3,"output_tokens":4}}}})", rest)));
    expect_end(ask_anthropic().error(), true);
  }
}

// Gateways have words of their own, or none.
TEST_F(Calls, ATextWithAnEndInOtherWordsIsTaken) {
  const auto ends_with = [&](std::string_view finish) {
    stand_in.push(said(fmt::format(
        R"({{"choices":[{{"finish_reason":{},"message":{{"content":"said"}}}}]}})", finish)));
    return ask_openai();
  };
  for (const auto* finish :
       {R"("STOP")", R"("Stop")", R"("eos")", R"("end_turn")", R"("")", "null", "{}"}) {
    const auto answer = ends_with(finish);
    ASSERT_TRUE(answer) << finish << ": " << answer.error().message;
    EXPECT_EQ(answer->text, "said");
  }
  EXPECT_EQ(ends_with(R"("LENGTH")").error().error_type, "truncated");
  EXPECT_EQ(ends_with(R"("MAX_TOKENS")").error().error_type, "truncated");
  EXPECT_EQ(ends_with(R"("Content_Filter")").error().error_type, "content_filter");
}

// It would take from the budget of the day at every try.
TEST_F(Calls, LimitsAndMoneyToldInA200AreNotCharged) {
  const auto openai = [&](std::string_view code) {
    stand_in.push(said(fmt::format(R"({{"error":{{"message":"m","code":{}}}}})", code)));
    return ask_openai().error();
  };
  expect({Action::custom, Kind::throttled, "rate_limit", 429}, openai("429"));
  expect({Action::custom, Kind::throttled, "rate_limit", 500}, openai(R"("rate_limit_exceeded")"));
  expect({Action::custom, Kind::blocked, "quota", 500}, openai(R"("insufficient_quota")"));
  expect({Action::custom, Kind::retry, "unavailable", 503, true}, openai("503"));
  expect({Action::custom, Kind::permanent, "content_filter", 500, true},
         openai(R"("content_filter")"));
  const auto anthropic = [&](std::string_view type) {
    stand_in.push(
        said(fmt::format(R"({{"type":"error","error":{{"type":"{}","message":"m"}}}})", type)));
    return ask_anthropic().error();
  };
  expect({Action::custom, Kind::throttled, "rate_limit", 500}, anthropic("rate_limit_error"));
  expect({Action::custom, Kind::blocked, "quota", 500}, anthropic("billing_error"));
  expect({Action::custom, Kind::retry, "server_error", 500, true}, anthropic("api_error"));
}

// Answers with bytes changed, left out and put in: an answer or a failure, never the key.
TEST_F(Calls, HoldForAnyBody) {
  ASSERT_TRUE(ask_openai());
  const std::vector<std::string> bodies = {
      R"({"id":"1","model":"m","choices":[{"finish_reason":"stop","message":{"content":"{}"}}],)"
      R"("usage":{"prompt_tokens":3,"completion_tokens":4}})",
      R"({"id":"1","type":"message","content":[{"type":"text","text":"{}"}],"stop_reason":)"
      R"("end_turn","usage":{"input_tokens":3,"output_tokens":4}})",
      R"({"error":{"code":"slow_down","type":"t","message":"m","details":[{"reason":"R",)"
      R"("retryDelay":"3s"}],"status":"UNAVAILABLE"}})",
      R"({"responses":[{"fullTextAnnotation":{"text":"a"}}]})"};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    for (int i = 0; i < 150; ++i) {
      auto body = bodies[random.below(bodies.size())];
      for (auto changes = random.below(6); changes > 0 && !body.empty(); --changes) {
        constexpr std::string_view kBytes = "{}[]\",:-0x\\n\xff";
        const auto at = random.below(body.size());
        if (random.below(3) == 0)
          body.erase(at, random.below(20));
        else
          body[at] = kBytes[random.below(kBytes.size())];
      }
      const int status = random.below(2) == 0 ? 200 : static_cast<int>(random.between(200, 599));
      stand_in.push(Step{.action = Action::custom, .status = status, .body = body});
      std::optional<CallFailure> failure;
      const auto which = random.below(3);
      if (which == 0) {
        if (auto answer = ask_openai(); !answer) failure = answer.error();
      } else if (which == 1) {
        if (auto answer = ask_anthropic(); !answer) failure = answer.error();
      } else if (auto answer = ask_vision({.images = {"x"}}); !answer) {
        failure = answer.error();
      }
      if (!failure) continue;
      ASSERT_FALSE(failure->error_type.empty()) << body;
      ASSERT_FALSE(failure->message.empty()) << body;
      ASSERT_THAT(failure->message, Not(HasSubstr(kKey))) << body;
    }
  }
}

TEST(CallsOnThreads, ManyAtOnceGetTheirOwnAnswers) {
  boost::asio::io_context io(1);
  const SystemClock clock;
  StandIn stand_in(io, clock);
  stand_in.set_random(
      {.seed = 5, .rates = {{Action::throttle, 0.1}, {Action::cut, 0.1}}, .latency_max = 5ms});
  const auto url = stand_in.url();
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  {
    const auto keep = boost::asio::make_work_guard(io);
    const std::jthread serving([&io] { io.run(); });
    boost::asio::thread_pool pool(4);
    http::Client client(pool.get_executor());
    provider::OpenAiChat chat(
        client, clock, {.base_url = url + "/v1", .api_key = Secret<std::string>("test-key")});
    for (int i = 0; i < 200; ++i) {
      boost::asio::co_spawn(
          pool, chat.chat({.model = "stand-in", .user = "q", .max_output_tokens = 100}, {}),
          [&](std::exception_ptr, provider::Answer<provider::ChatAnswer> answer) {
            ++(answer ? answered : failed);
          });
    }
    pool.join();
    io.stop();
  }
  EXPECT_EQ(answered + failed, 200);
  EXPECT_EQ(stand_in.requests().size(), 200u);
  const auto state = stand_in.state();
  EXPECT_EQ(answered, state.at("actions").at("normal").to_number<int>());
  EXPECT_GT(stand_in.open_max(), 1u);
}

TEST_F(Calls, VisionGivesEachPictureItsOwnEnd) {
  const auto text = [](std::string_view lines) {
    return "picture" + std::string(kVisionMark) + std::string(lines);
  };
  stand_in.push(Action::inner_error);  // Of the first.
  const auto answer = ask_vision(
      {.images = {text("One"), text("Two words"), text("")}, .language_hints = {"en", "de"}});
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->images.size(), 3u);
  ASSERT_FALSE(answer->images[0]);
  EXPECT_EQ(answer->images[0].error().kind, Kind::retry);
  EXPECT_EQ(answer->images[0].error().provider_code, "UNAVAILABLE");
  ASSERT_TRUE(answer->images[1]);
  EXPECT_THAT(*answer->images[1], HasSubstr("Two words"));
  ASSERT_TRUE(answer->images[2]);
  EXPECT_EQ(*answer->images[2], R"({"responses":[{}]})");  // An empty page is no error.
  EXPECT_EQ(sent_header("x-goog-api-key"), kKey);
  EXPECT_EQ(stand_in.requests().back().request.query, "");
  EXPECT_EQ(sent().at("requests").at(1).at("imageContext").at("languageHints").at(1), "de");
}

TEST_F(Calls, VisionsBoundsAreCheckedBeforeSending) {
  const auto refusal = [&](provider::VisionRequest request) {
    return ask_vision(std::move(request)).error();
  };
  EXPECT_EQ(refusal({}).error_type, "bad_request");
  EXPECT_EQ(refusal({.images = {""}}).error_type, "bad_request");
  EXPECT_EQ(refusal({.images = std::vector<std::string>(17, "x")}).error_type, "too_large");
  EXPECT_EQ(refusal({.images = {std::string(20'000'001, 'x')}}).error_type, "too_large");
  // 8 MB of picture are more than 10 MB of JSON.
  EXPECT_EQ(refusal({.images = {std::string(8'000'000, 'x')}}).error_type, "too_large");
  EXPECT_TRUE(stand_in.requests().empty());
  EXPECT_TRUE(ask_vision({.images = std::vector<std::string>(16, "x")}));
}

}  // namespace
}  // namespace millrace::test
