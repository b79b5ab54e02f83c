// The stand-in is no kinder than the services: its limits are real, and its records can be trusted.
#include "provider_world.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::test {
namespace {

using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = provider::CallFailure::Kind;

class StandInTest : public ProviderWorld {
 protected:
  http::Response raw(const std::string& path, std::string body,
                     std::vector<http::Header> headers = {}, const std::string& method = "POST") {
    http::Request request{.method = method,
                          .url = stand_in.url() + path,
                          .headers = std::move(headers),
                          .body = std::move(body)};
    return run_blocking(io, client.send(std::move(request))).value();
  }
  http::Response openai(std::string body) {
    return raw("/v1/chat/completions", std::move(body),
               {{"Authorization", "Bearer " + std::string(kKey)}});
  }
  http::Response anthropic(std::string body,
                           std::vector<http::Header> more = {{"anthropic-version", "2023-06-01"}}) {
    more.emplace_back("x-api-key", kKey);
    return raw("/v1/messages", std::move(body), std::move(more));
  }
};

TEST_F(StandInTest, ChecksKeysAsEachServiceDoes) {
  EXPECT_EQ(raw("/v1/chat/completions", "{}").status, 401);
  EXPECT_THAT(raw("/v1/chat/completions", "{}", {{"Authorization", "Bearer no"}}).body,
              HasSubstr("invalid_api_key"));
  EXPECT_EQ(raw("/v1/messages", "{}", {{"x-api-key", "no"}}).status, 401);
  EXPECT_EQ(raw("/v1/images:annotate", "{}").status, 403);
  EXPECT_THAT(raw("/v1/images:annotate", "{}", {{"x-goog-api-key", "no"}}).body,
              HasSubstr("API_KEY_INVALID"));
  EXPECT_EQ(raw("/v1/elsewhere", "{}").status, 404);
}

TEST_F(StandInTest, RefusesWhatOpenAiRefuses) {
  const auto ask = [&](std::string_view more, std::string_view model = "stand-in") {
    return openai(R"({"model":")" + std::string(model) +
                  R"(","messages":[{"role":"user","content":"q"}])" + std::string(more) + "}");
  };
  EXPECT_EQ(ask("").status, 200);
  EXPECT_EQ(ask("", "gpt-9").status, 404);
  EXPECT_EQ(openai("{").status, 400);
  EXPECT_EQ(openai(R"({"model":"stand-in"})").status, 400);
  EXPECT_EQ(ask(R"(,"max_tokens":0)").status, 400);
  EXPECT_EQ(ask(R"(,"max_tokens":200000)").status, 400);
  EXPECT_EQ(ask(R"(,"response_format":{"type":"json_object"})").status, 400);  // No "json" in it.
  const auto format = [&](std::string_view schema, std::string_view name = "n") {
    return ask(R"(,"response_format":{"type":"json_schema","json_schema":{"name":")" +
               std::string(name) + R"(","strict":true,"schema":)" + std::string(schema) + "}}")
        .status;
  };
  EXPECT_EQ(format(R"({"type":"object","properties":{},"required":[],
                       "additionalProperties":false})"),
            200);
  EXPECT_EQ(format(R"({"type":"object","properties":{},"required":[]})"), 400);
  EXPECT_EQ(format(R"({"type":"object","properties":{"a":{"type":"string"}},"required":[],
                       "additionalProperties":false})"),
            400);
  EXPECT_EQ(format(R"({"type":"object","properties":{"a":{"allOf":[]}},"required":["a"],
                       "additionalProperties":false})"),
            400);
  EXPECT_EQ(format(R"({"type":"array","items":{"type":"string"}})"), 400);
  EXPECT_EQ(format(R"({"type":"object","properties":{},"required":[],
                       "additionalProperties":false})",
                   "a.b/1"),
            400);
}

// INTEGRATIONS §1.1: each bound, with the last that is taken and the first that is not.
TEST_F(StandInTest, RefusesWhatEmbeddingsRefuse) {
  const auto ask = [&](std::size_t texts, std::size_t bytes) {
    std::string body = R"({"model":"stand-in-embed","input":[)";
    const auto text = '"' + std::string(bytes, 'x') + '"';
    for (std::size_t i = 0; i < texts; ++i) body += (i == 0 ? "" : ",") + text;
    return raw("/v1/embeddings", body + "]}", {{"Authorization", "Bearer " + std::string(kKey)}});
  };
  EXPECT_EQ(ask(2'048, 4).status, 200);
  const auto many = ask(2'049, 4);
  EXPECT_EQ(many.status, 400);
  EXPECT_THAT(many.body, HasSubstr("array_above_max_length"));
  EXPECT_EQ(ask(1, std::size_t{4} * 8'192).status, 200);
  const auto longer = ask(1, std::size_t{4} * 8'192 + 1);
  EXPECT_EQ(longer.status, 400);
  EXPECT_THAT(longer.body, HasSubstr("maximum context length is 8192 tokens"));
  EXPECT_EQ(ask(50, std::size_t{4} * 6'000).status, 200);
  const auto sum = ask(51, std::size_t{4} * 6'000);
  EXPECT_EQ(sum.status, 400);
  EXPECT_THAT(sum.body, HasSubstr("max_tokens_per_request"));
  EXPECT_EQ(ask(1, 0).status, 400);
  EXPECT_EQ(ask(0, 0).status, 400);
}

TEST_F(StandInTest, RefusesWhatAnthropicRefuses) {
  const std::string messages = R"("messages":[{"role":"user","content":"q"}])";
  EXPECT_EQ(anthropic(R"({"model":"stand-in","max_tokens":9,)" + messages + "}").status, 200);
  EXPECT_EQ(anthropic(R"({"model":"stand-in",)" + messages + "}").status, 400);
  EXPECT_EQ(anthropic(R"({"model":"other","max_tokens":9,)" + messages + "}").status, 404);
  EXPECT_EQ(anthropic(R"({"model":"stand-in","max_tokens":9,)" + messages + "}", {}).status, 400);
  EXPECT_EQ(anthropic(R"({"model":"stand-in","max_tokens":9,"messages":[{"role":"system",
                          "content":"q"}]})")
                .status,
            400);
  EXPECT_EQ(anthropic(R"({"model":"stand-in","max_tokens":9,"messages":[{"role":"user",
                          "content":[{"type":"text","text":""}]}]})")
                .status,
            400);
}

TEST_F(StandInTest, RefusesWhatVisionRefuses) {
  const auto ask = [&](std::size_t images, std::string_view content = "AAAA") {
    std::string body = R"({"requests":[)";
    for (std::size_t i = 0; i < images; ++i) {
      body += (i > 0 ? "," : "") + std::string(R"({"image":{"content":")") + std::string(content) +
              R"("},"features":[{"type":"DOCUMENT_TEXT_DETECTION"}]})";
    }
    return raw("/v1/images:annotate", body + "]}", {{"x-goog-api-key", std::string(kKey)}}).status;
  };
  EXPECT_EQ(ask(16), 200);
  EXPECT_EQ(ask(17), 400);
  EXPECT_EQ(ask(0), 400);
  EXPECT_EQ(ask(1, "!!!!"), 400);
  EXPECT_EQ(ask(1, std::string(10'000'000, 'A')), 400);
}

TEST(StandInLimits, OverdrivingReallyYields429) {
  boost::asio::io_context io(1);
  ManualClock clock;
  StandIn stand_in(io, clock, {.keys = {{"k", {.requests = 3, .tokens = 10'000}}}});
  http::Client client(io.get_executor());
  provider::OpenAiChat chat(
      client, clock, {.base_url = stand_in.url() + "/v1", .api_key = Secret<std::string>("k")});
  const auto ask = [&](int output) {
    return run_blocking(
        io, chat.chat({.model = "stand-in", .user = "q", .max_output_tokens = output}, {}));
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(10)) << i;
  auto refused = ask(10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::throttled);
  EXPECT_EQ(refused.error().retry_after, 20s);  // A third of the window is one request.
  EXPECT_EQ(refused.error().rate.requests.remaining, 0u);
  clock.advance(20s);
  EXPECT_TRUE(ask(10));
  clock.advance(60s);
  EXPECT_TRUE(ask(9'900));
  refused = ask(9'900);  // Enough requests are left, but not tokens.
  ASSERT_FALSE(refused);
  EXPECT_GT(refused.error().rate.requests.remaining, 0u);
  EXPECT_GT(refused.error().retry_after, 30s);
  EXPECT_EQ(stand_in.use("k").refused, 2u);
  EXPECT_EQ(stand_in.use("k").window_requests_max, 5u);
}

TEST(StandInLimits, TheMostInAnyWindowIsWhatTheClientDid) {
  ManualClock clock;
  Ledger ledger(clock, 60s);
  ledger.set_limits("k", {.requests = 100});
  // Two bursts around the boundary of a minute: 200 in two seconds, though 100 in each minute.
  clock.advance(59s);
  for (int i = 0; i < 100; ++i) ledger.open("k", 7), ledger.close("k");
  clock.advance(2s);
  for (int i = 0; i < 100; ++i) ledger.open("k", 7), ledger.close("k");
  EXPECT_EQ(ledger.use("k").window_requests_max, 200u);  // E01
  EXPECT_EQ(ledger.use("k").window_tokens_max, 1'400u);
  clock.advance(60s);
  ledger.open("k", 7);
  EXPECT_EQ(ledger.use("k").window_requests_max, 200u);
  EXPECT_EQ(ledger.use("k").open_max, 1u);
}

TEST_F(StandInTest, CountsCallsAtOnceAndRefusesMoreThanAllowed) {
  stand_in.set_limits(std::string(kKey), {.concurrency = 2});
  provider::OpenAiChat chat(client, clock, openai_options());
  for (int i = 0; i < 3; ++i) stand_in.push(Step{.delay = 100ms});
  const auto three = [&]() -> awaitable<int> {
    const auto [a, b, c] = co_await (chat.chat(question(), {}) && chat.chat(question(), {}) &&
                                     chat.chat(question(), {}));
    co_return (a ? 1 : 0) + (b ? 1 : 0) + (c ? 1 : 0);
  };
  EXPECT_EQ(run_blocking(io, three()), 2);
  EXPECT_EQ(stand_in.use(std::string(kKey)).open_max, 3u);
  EXPECT_EQ(stand_in.use(std::string(kKey)).refused, 1u);
  EXPECT_EQ(stand_in.use(std::string(kKey)).open, 0u);
}

TEST_F(StandInTest, APieceOfRepeatedWorkIsSeenByItsKey) {
  ASSERT_TRUE(ask_openai());
  ASSERT_TRUE(ask_openai());
  EXPECT_EQ(stand_in.state().at("idempotency_repeats"), 1);  // And was done, and charged, twice.
}

TEST_F(StandInTest, IsControlledOverHttp) {
  const auto state = [&] { return parse_json_object(raw("/control/state", "", {}, "GET").body); };
  EXPECT_EQ(raw("/control/settings",
                R"({"keys":{"other":{"requests":2}},"window_ms":1000,"models":["m9"]})")
                .status,
            200);
  EXPECT_EQ(
      raw("/control/script", R"({"steps":[{"do":"quota","times":2},{"do":"throttle"}]})").status,
      200);
  EXPECT_EQ(state()->at("script_left"), 3);
  EXPECT_EQ(raw("/control/script", R"({"steps":[{"do":"explode"}]})").status, 400);
  EXPECT_EQ(raw("/control/settings", R"({"random":{"rates":{"explode":1}}})").status, 400);
  EXPECT_EQ(raw("/control/nothing", "{}").status, 400);
  EXPECT_EQ(ask_openai().error().kind, Kind::blocked);
  const auto listed = parse_json(raw("/control/requests?after=0", "", {}, "GET").body).value();
  EXPECT_EQ(listed.at("requests").at(0).at("action"), "quota");
  EXPECT_EQ(listed.at("requests").at(0).at("idempotency_key"), "job-1:detect:1");
  EXPECT_EQ(raw("/control/reset", "").status, 200);
  EXPECT_EQ(state()->at("script_left"), 0);
  EXPECT_TRUE(ask_openai());
}

TEST_F(StandInTest, RandomTroubleIsTheSameForTheSameSeed) {
  const auto run = [&](std::uint64_t seed) {
    stand_in.reset();
    stand_in.set_random({.seed = seed,
                         .rates = {{Action::throttle, 0.2},
                                   {Action::server_error, 0.2},
                                   {Action::cut, 0.2},
                                   {Action::refusal, 0.1}}});
    std::string ends;
    for (int i = 0; i < 40; ++i) {
      const auto answer = ask_openai();
      ends += answer ? "." : to_string(answer.error().kind).substr(0, 1);
    }
    return ends;
  };
  const auto first = run(11);
  EXPECT_EQ(run(11), first);
  EXPECT_NE(run(12), first);
  for (const char end : {'.', 't', 'r', 'u', 'p'}) {
    EXPECT_TRUE(first.contains(end)) << first << " seed 11";
  }
}

}  // namespace
}  // namespace millrace::test
