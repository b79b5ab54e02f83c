// Every row of the tables of INTEGRATIONS §1.3, §1.5, §1.6 and §9 (D14).
#include "provider/classify.h"

#include "http/message.h"
#include "provider/exchange.h"
#include "provider/rate_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace millrace::provider {
namespace {

using Kind = CallFailure::Kind;
using namespace std::chrono_literals;

struct Case {
  Service service;
  int status;
  std::vector<std::string> words;
  std::string message;
  Kind kind;
  std::string error_type;
  bool maybe_charged = false;
};

// Written out once more, by hand: a row that is changed by accident is noticed here.
const std::vector<Case>& cases() {
  using enum Service;
  static const std::vector<Case> kCases = {
      {openai, 429, {"insufficient_quota"}, "", Kind::blocked, "quota"},
      {openai, 429, {"credit_balance_exhausted"}, "", Kind::blocked, "quota"},
      {openai, 429, {"organization_spend_limit_exceeded"}, "", Kind::blocked, "quota"},
      {openai, 429, {"project_spend_limit_exceeded"}, "", Kind::blocked, "quota"},
      {openai, 429, {"organization_usage_limit_exceeded"}, "", Kind::blocked, "quota"},
      {openai, 400, {"billing_hard_limit_reached"}, "", Kind::blocked, "quota"},
      {openai, 429, {"billing_not_active"}, "", Kind::blocked, "quota"},
      {openai, 401, {"invalid_api_key"}, "", Kind::blocked, "auth"},
      {openai, 401, {"account_deactivated"}, "", Kind::blocked, "auth"},
      {openai, 429, {"rate_limit_exceeded", "tokens"}, "", Kind::throttled, "rate_limit"},
      {openai, 429, {"slow_down"}, "", Kind::throttled, "slow_down"},
      {openai, 503, {"slow_down"}, "", Kind::throttled, "slow_down"},
      {openai, 503, {"server_is_overloaded"}, "", Kind::retry, "overloaded"},
      {openai, 400, {"context_length_exceeded"}, "", Kind::permanent, "too_large"},
      {openai, 400, {"max_tokens_per_request"}, "", Kind::permanent, "too_large"},
      {openai, 400, {"string_above_max_length"}, "", Kind::permanent, "too_large"},
      {openai, 400, {"array_above_max_length"}, "", Kind::permanent, "too_large"},
      {openai, 400, {"exceed_context_size_error"}, "", Kind::permanent, "too_large"},
      {openai,
       400,
       {},
       "the input length exceeds the context length",
       Kind::permanent,
       "too_large"},
      {openai,
       500,
       {"server_error"},
       "input is too large to process. increase the physical batch size",
       Kind::permanent,
       "too_large"},
      {openai,
       400,
       {"BadRequestError"},
       "The decoder prompt (length 600) is longer than the maximum model length of 512.",
       Kind::permanent,
       "too_large"},
      {openai,
       400,
       {},
       "This model's maximum context length is 8192 tokens, however you requested 9001 tokens.",
       Kind::permanent,
       "too_large"},
      {openai,
       400,
       {"invalid_request_error"},
       "Invalid 'input[0]': maximum input length is 8192 tokens.",
       Kind::permanent,
       "too_large"},
      {openai, 404, {"model_not_found"}, "", Kind::permanent, "model_not_found"},
      {openai, 400, {"content_policy_violation"}, "", Kind::permanent, "content_filter"},
      {openai, 400, {"content_filter"}, "", Kind::permanent, "content_filter"},
      {openai, 400, {}, "", Kind::permanent, "bad_request"},
      {openai, 401, {}, "", Kind::blocked, "auth"},
      {openai, 402, {}, "", Kind::blocked, "quota"},
      {openai, 403, {}, "", Kind::blocked, "auth"},
      {openai, 404, {}, "", Kind::permanent, "not_found"},
      {openai, 408, {}, "", Kind::retry, "timeout"},
      {openai, 409, {}, "", Kind::retry, "conflict"},
      {openai, 413, {}, "", Kind::permanent, "too_large"},
      {openai, 415, {}, "", Kind::permanent, "bad_request"},
      {openai, 422, {}, "", Kind::permanent, "bad_request"},
      {openai, 429, {}, "", Kind::throttled, "rate_limit"},
      {openai, 500, {"server_error"}, "", Kind::retry, "server_error"},
      {openai, 502, {}, "", Kind::retry, "server_error", true},
      {openai, 503, {}, "", Kind::retry, "unavailable"},
      {openai, 504, {}, "", Kind::retry, "timeout", true},
      {openai, 529, {}, "", Kind::throttled, "overloaded"},

      {anthropic,
       429,
       {"enforced_spend_limit_reached", "rate_limit_error"},
       "",
       Kind::blocked,
       "quota"},
      {anthropic, 402, {"billing_error"}, "", Kind::blocked, "quota"},
      {anthropic, 401, {"authentication_error"}, "", Kind::blocked, "auth"},
      {anthropic, 403, {"permission_error"}, "", Kind::blocked, "auth"},
      {anthropic, 429, {"rate_limit_error"}, "", Kind::throttled, "rate_limit"},
      {anthropic, 529, {"overloaded_error"}, "", Kind::throttled, "overloaded"},
      {anthropic, 500, {"api_error"}, "", Kind::retry, "server_error"},
      {anthropic, 504, {"timeout_error"}, "", Kind::retry, "timeout", true},
      {anthropic, 404, {"not_found_error"}, "", Kind::permanent, "not_found"},
      {anthropic, 413, {"request_too_large"}, "", Kind::permanent, "too_large"},
      {anthropic,
       400,
       {"invalid_request_error"},
       "Your credit balance is too low to access the API.",
       Kind::blocked,
       "quota"},
      {anthropic,
       400,
       {"invalid_request_error"},
       "prompt is too long: 300000 tokens > 200000",
       Kind::permanent,
       "too_large"},
      {anthropic,
       400,
       {"invalid_request_error"},
       "max_tokens: required",
       Kind::permanent,
       "bad_request"},
      {anthropic, 401, {}, "", Kind::blocked, "auth"},
      {anthropic, 402, {}, "", Kind::blocked, "quota"},
      {anthropic, 403, {}, "", Kind::blocked, "auth"},
      {anthropic, 404, {}, "", Kind::permanent, "not_found"},
      {anthropic, 408, {}, "", Kind::retry, "timeout"},
      {anthropic, 409, {}, "", Kind::retry, "conflict"},
      {anthropic, 413, {}, "", Kind::permanent, "too_large"},
      {anthropic, 422, {}, "", Kind::permanent, "bad_request"},
      {anthropic, 429, {}, "", Kind::throttled, "rate_limit"},
      {anthropic, 500, {}, "", Kind::retry, "server_error"},
      {anthropic, 502, {}, "", Kind::retry, "server_error", true},
      {anthropic, 503, {}, "", Kind::retry, "unavailable"},
      {anthropic, 504, {}, "", Kind::retry, "timeout", true},
      {anthropic, 529, {}, "", Kind::throttled, "overloaded"},

      {vision, 400, {"API_KEY_INVALID", "INVALID_ARGUMENT"}, "", Kind::blocked, "auth"},
      {vision, 403, {"API_KEY_SERVICE_BLOCKED", "PERMISSION_DENIED"}, "", Kind::blocked, "auth"},
      {vision, 401, {"ACCESS_TOKEN_EXPIRED", "UNAUTHENTICATED"}, "", Kind::blocked, "auth"},
      {vision, 403, {"CONSUMER_INVALID", "PERMISSION_DENIED"}, "", Kind::blocked, "auth"},
      {vision, 403, {"SERVICE_DISABLED", "PERMISSION_DENIED"}, "", Kind::blocked, "auth"},
      {vision, 403, {"BILLING_DISABLED", "PERMISSION_DENIED"}, "", Kind::blocked, "quota"},
      {vision,
       429,
       {"RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"},
       "",
       Kind::throttled,
       "rate_limit"},
      {vision, 429, {"RESOURCE_EXHAUSTED"}, "", Kind::throttled, "rate_limit"},
      {vision, 401, {"UNAUTHENTICATED"}, "", Kind::blocked, "auth"},
      {vision, 403, {"PERMISSION_DENIED"}, "", Kind::blocked, "auth"},
      {vision, 503, {"UNAVAILABLE"}, "", Kind::retry, "unavailable"},
      {vision, 499, {"CANCELLED"}, "", Kind::retry, "server_error"},
      {vision, 500, {"UNKNOWN"}, "", Kind::retry, "server_error"},
      {vision, 409, {"ABORTED"}, "", Kind::retry, "conflict"},
      {vision, 500, {"INTERNAL"}, "", Kind::retry, "server_error"},
      {vision, 504, {"DEADLINE_EXCEEDED"}, "", Kind::retry, "timeout", true},
      {vision, 400, {"INVALID_ARGUMENT"}, "", Kind::permanent, "bad_request"},
      {vision, 400, {"FAILED_PRECONDITION"}, "", Kind::permanent, "bad_request"},
      {vision, 400, {"OUT_OF_RANGE"}, "", Kind::permanent, "bad_request"},
      {vision, 404, {"NOT_FOUND"}, "", Kind::permanent, "not_found"},
      {vision, 409, {"ALREADY_EXISTS"}, "", Kind::permanent, "bad_request"},
      {vision, 501, {"UNIMPLEMENTED"}, "", Kind::permanent, "bad_request"},
      {vision, 500, {"DATA_LOSS"}, "", Kind::permanent, "bad_request"},
      {vision, 400, {}, "", Kind::permanent, "bad_request"},
      {vision, 401, {}, "", Kind::blocked, "auth"},
      {vision, 403, {}, "", Kind::blocked, "auth"},
      {vision, 404, {}, "", Kind::permanent, "not_found"},
      {vision, 408, {}, "", Kind::retry, "timeout"},
      {vision, 409, {}, "", Kind::retry, "conflict"},
      {vision, 413, {}, "", Kind::permanent, "too_large"},
      {vision, 429, {}, "", Kind::throttled, "rate_limit"},
      {vision, 500, {}, "", Kind::retry, "server_error"},
      {vision, 502, {}, "", Kind::retry, "server_error", true},
      {vision, 503, {}, "", Kind::retry, "unavailable"},
      {vision, 504, {}, "", Kind::retry, "timeout", true},

      {parser,
       400,
       {},
       "You've exceeded the maximum number of credits for your plan.",
       Kind::blocked,
       "quota"},
      {parser, 403, {}, "The project is out of credits.", Kind::blocked, "quota"},
      {parser, 400, {}, "", Kind::permanent, "bad_request"},
      {parser, 401, {}, "", Kind::blocked, "auth"},
      {parser, 402, {}, "", Kind::blocked, "quota"},
      {parser, 403, {}, "", Kind::blocked, "auth"},
      {parser, 404, {}, "", Kind::permanent, "not_found"},
      {parser, 408, {}, "", Kind::retry, "timeout"},
      {parser, 409, {}, "", Kind::retry, "conflict"},
      {parser, 413, {}, "", Kind::permanent, "too_large"},
      {parser, 415, {}, "", Kind::permanent, "bad_request"},
      {parser, 422, {}, "", Kind::permanent, "bad_request"},
      {parser, 429, {}, "", Kind::throttled, "rate_limit"},
      {parser, 500, {}, "", Kind::retry, "server_error"},
      {parser, 502, {}, "", Kind::retry, "server_error", true},
      {parser, 503, {}, "", Kind::retry, "unavailable"},
      {parser, 504, {}, "", Kind::retry, "timeout", true},
  };
  return kCases;
}

TEST(Classification, EveryRowSaysWhatTheTableSays) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(std::string(to_string(c.service)) + " " + std::to_string(c.status) + " " +
                 (c.words.empty() ? c.message : c.words.front()));
    const auto failure =
        classify(c.service, {.status = c.status, .words = c.words, .message = c.message});
    EXPECT_EQ(to_string(failure.kind), to_string(c.kind));
    EXPECT_EQ(failure.error_type, c.error_type);
    EXPECT_EQ(failure.maybe_charged, c.maybe_charged);
    EXPECT_EQ(failure.status, c.status);
    if (!c.words.empty()) EXPECT_EQ(failure.provider_code, c.words.front());
  }
}

TEST(Classification, NoRowIsWithoutATest) {
  using Key = std::tuple<Service, std::string, std::string, int>;
  std::set<Key> tested;
  for (const auto& c : cases()) {
    for (const auto& rule : rules_of(c.service)) {
      const bool by_word = !rule.word.empty() && !c.words.empty() && rule.word == c.words.front();
      const bool by_message = !rule.message_part.empty() && c.message.contains(rule.message_part);
      const bool by_status = rule.status == c.status && c.words.empty() && c.message.empty();
      const bool by_plain_status =
          rule.status == c.status && !c.words.empty() && c.kind == rule.kind && !by_word;
      if (by_word || by_message || by_status || by_plain_status) {
        tested.emplace(c.service, rule.word, rule.message_part, rule.status);
      }
    }
  }
  for (const auto service :
       {Service::openai, Service::anthropic, Service::vision, Service::parser}) {
    for (const auto& rule : rules_of(service)) {
      EXPECT_TRUE(tested.contains(
          Key(service, std::string(rule.word), std::string(rule.message_part), rule.status)))
          << to_string(service) << " " << rule.word << rule.message_part << rule.status;
    }
  }
}

TEST(Classification, TheWordDecidesWhateverTheStatus) {
  for (const int status : {200, 400, 403, 429, 500, 503}) {
    EXPECT_EQ(classify(Service::openai, {.status = status, .words = {"insufficient_quota"}}).kind,
              Kind::blocked)
        << status;
  }
}

TEST(Classification, UnknownRefusalsAreFinalUnknownTroubleIsNot) {  // D14
  for (const auto service :
       {Service::openai, Service::anthropic, Service::vision, Service::parser}) {
    for (const int status : {405, 406, 410, 418, 451, 499}) {
      const auto failure = classify(service, {.status = status, .words = {"news_to_us"}});
      EXPECT_EQ(failure.kind, Kind::permanent) << status;
      EXPECT_EQ(failure.provider_code, "news_to_us");
    }
    for (const int status : {501, 505, 520, 544, 599, 0, 202, 700}) {
      EXPECT_EQ(classify(service, {.status = status}).kind, Kind::retry) << status;
    }
    for (const int status : {301, 302, 307, 308}) {
      EXPECT_EQ(classify(service, {.status = status}).error_type, "redirect") << status;
    }
  }
}

TEST(Classification, AnOverloadWithRetryAfterIsALimit) {
  EXPECT_EQ(classify(Service::openai, {.status = 503, .retry_after = 3s}).kind, Kind::throttled);
  EXPECT_EQ(classify(Service::openai, {.status = 503, .retry_after = 3s}).retry_after, 3s);
  EXPECT_EQ(classify(Service::openai,
                     {.status = 503, .words = {"server_is_overloaded"}, .retry_after = 3s})
                .kind,
            Kind::throttled);
  EXPECT_EQ(classify(Service::openai, {.status = 500, .retry_after = 3s}).kind, Kind::retry);
}

TEST(Classification, AdviceToRetryCountsBetweenAgainAndNever) {
  using S = Service;
  EXPECT_EQ(classify(S::openai, {.status = 500, .should_retry = false}).kind, Kind::permanent);
  EXPECT_EQ(classify(S::openai, {.status = 400, .should_retry = true}).kind, Kind::retry);
  // Neither money nor a known word is talked away.
  EXPECT_EQ(classify(S::openai, {.status = 401, .should_retry = true}).kind, Kind::blocked);
  EXPECT_EQ(classify(S::openai,
                     {.status = 400, .words = {"context_length_exceeded"}, .should_retry = true})
                .kind,
            Kind::permanent);
  EXPECT_EQ(classify(S::openai, {.status = 429, .should_retry = false}).kind, Kind::throttled);
}

TEST(Transport, EveryKindOfErrorHasItsRow) {
  const auto of = [](ErrorKind kind, std::string message = "http://h:1: broken",
                     std::string detail = "") {
    return transport_failure({.kind = kind, .message = message, .detail = detail});
  };
  EXPECT_EQ(of(ErrorKind::unavailable).kind, Kind::retry);
  EXPECT_EQ(of(ErrorKind::unavailable).error_type, "connection");
  EXPECT_FALSE(of(ErrorKind::unavailable).maybe_charged);
  EXPECT_EQ(of(ErrorKind::in_doubt).kind, Kind::unknown);
  EXPECT_EQ(of(ErrorKind::in_doubt).error_type, "connection_lost");
  EXPECT_TRUE(of(ErrorKind::in_doubt).maybe_charged);
  EXPECT_EQ(of(ErrorKind::in_doubt, "http://h:1: no answer within 5 ms").error_type, "timeout");
  EXPECT_EQ(of(ErrorKind::invalid_argument).kind, Kind::permanent);
  EXPECT_EQ(of(ErrorKind::cancelled).kind, Kind::cancelled);
  EXPECT_FALSE(of(ErrorKind::cancelled).maybe_charged);
  EXPECT_TRUE(of(ErrorKind::cancelled, "x", "the request had been sent").maybe_charged);
  EXPECT_EQ(of(ErrorKind::internal).kind, Kind::retry);  // Unknown transport errors retry (D14).
}

TEST(Outcomes, AreThoseOfTheEngine) {
  const auto of = [](CallFailure failure) { return to_outcome(failure, "openai:chat"); };
  using O = Outcome::Kind;
  EXPECT_EQ(of({.kind = Kind::throttled, .retry_after = 7s}).kind, O::throttled);
  EXPECT_EQ(of({.kind = Kind::throttled, .retry_after = 7s}).retry_after, 7s);
  EXPECT_EQ(of({.kind = Kind::throttled}).provider, "openai:chat");
  EXPECT_EQ(of({.kind = Kind::blocked}).kind, O::blocked);
  EXPECT_EQ(of({.kind = Kind::blocked}).provider, "openai:chat");
  EXPECT_EQ(of({.kind = Kind::retry}).kind, O::retry);
  EXPECT_EQ(of({.kind = Kind::unknown}).kind, O::retry);
  EXPECT_EQ(of({.kind = Kind::permanent}).kind, O::permanent);
  EXPECT_EQ(of({.kind = Kind::cancelled}).kind, O::cancelled);
  const auto truncated = of({.kind = Kind::permanent,
                             .error_type = "truncated",
                             .message = "cut",
                             .usage = Usage{.input = 10, .output = 5, .reported = true}});
  EXPECT_THAT(truncated.error_json, testing::HasSubstr("truncated"));
  EXPECT_EQ(truncated.actual_tokens, 15);  // E08: what was used is settled also when it failed.
}

TEST(RateHeaders, OpenAiSendsDurationsAzureBareNumbers) {
  http::Response response{.headers = {{"x-ratelimit-limit-requests", "500"},
                                      {"x-ratelimit-remaining-requests", "499"},
                                      {"x-ratelimit-reset-requests", "120ms"},
                                      {"x-ratelimit-limit-tokens", "30000"},
                                      {"x-ratelimit-remaining-tokens", "29000"},
                                      {"x-ratelimit-reset-tokens", "6m0s"}}};
  auto state = openai_rate_state(response);
  EXPECT_EQ(state.requests, (RateBucket{.limit = 500, .remaining = 499, .reset = 120ms}));
  EXPECT_EQ(state.tokens, (RateBucket{.limit = 30000, .remaining = 29000, .reset = 6min}));
  response.headers = {{"x-ratelimit-limit-requests", "-1"},
                      {"x-ratelimit-remaining-requests", "0"},
                      {"x-ratelimit-reset-requests", "20"},
                      {"x-ratelimit-remaining-tokens", "many"},
                      {"x-ratelimit-reset-tokens", "-1"}};
  state = openai_rate_state(response);
  EXPECT_EQ(state.requests, (RateBucket{.remaining = 0, .reset = 20s}));
  EXPECT_EQ(state.tokens, RateBucket{});
}

TEST(RateHeaders, AnthropicSendsInstants) {
  const Wall now = std::chrono::sys_days(std::chrono::year(2026) / 8 / 1);
  const http::Response response{
      .headers = {{"anthropic-ratelimit-requests-limit", "50"},
                  {"anthropic-ratelimit-requests-remaining", "49"},
                  {"anthropic-ratelimit-requests-reset", "2026-08-01T00:00:12Z"},
                  {"anthropic-ratelimit-input-tokens-remaining", "100"},
                  {"anthropic-ratelimit-output-tokens-reset", "2026-07-31T23:59:59Z"}}};
  const auto state = anthropic_rate_state(response, now);
  EXPECT_EQ(state.requests, (RateBucket{.limit = 50, .remaining = 49, .reset = 12s}));
  EXPECT_EQ(state.input_tokens, (RateBucket{.remaining = 100}));
  EXPECT_EQ(state.output_tokens, RateBucket{});
}

TEST(RetryAfter, MillisecondsComeBeforeSecondsAndDates) {
  const Wall now = std::chrono::sys_days(std::chrono::year(2026) / 8 / 1);
  const auto of = [&](std::vector<http::Header> headers) {
    return retry_after_of({.headers = std::move(headers)}, now);
  };
  EXPECT_EQ(of({{"Retry-After", "2"}, {"retry-after-ms", "1500"}}), 1'500ms);
  EXPECT_EQ(of({{"Retry-After", "2.5"}}), 2'500ms);
  EXPECT_EQ(of({{"Retry-After", "Sat, 01 Aug 2026 00:00:30 GMT"}}), 30s);
  EXPECT_EQ(of({{"Retry-After", "2"}, {"retry-after-ms", "-1"}}), 2s);
  EXPECT_EQ(of({{"Retry-After", "86400"}}), 1h);
  EXPECT_EQ(of({}), std::nullopt);
}

}  // namespace
}  // namespace millrace::provider
