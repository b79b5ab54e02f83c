// The client of /v1/embeddings against the stand-in: INTEGRATIONS §1.1 and §1.3; B-15, B-19, L-17.
#include "embedding.h"
#include "provider/openai_embeddings.h"
#include "provider_world.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

using provider::CallFailure;
using provider::EmbedAnswer;
using provider::OpenAiEmbeddings;
using provider::OpenAiEmbedOptions;
using Kind = CallFailure::Kind;
using namespace std::chrono_literals;

class Embeddings : public ProviderWorld {
 protected:
  OpenAiEmbedOptions options() const {
    return {.base_url = stand_in.url() + "/v1",
            .api_key = Secret<std::string>(std::string(kKey)),
            .model = "stand-in-embed",
            .timeouts = timeouts};
  }
  provider::Answer<EmbedAnswer> embed(std::vector<std::string> texts, OpenAiEmbedOptions with) {
    OpenAiEmbeddings client_of(client, clock, std::move(with));
    return run_blocking(io, client_of.embed(std::move(texts), {}));
  }
  provider::Answer<EmbedAnswer> embed(std::vector<std::string> texts) {
    return embed(std::move(texts), options());
  }
  CallFailure failure_of(Step step) {
    stand_in.push(std::move(step));
    auto answer = embed(kTexts);
    EXPECT_FALSE(answer.has_value());
    return answer ? CallFailure{} : std::move(answer).error();
  }
  CallFailure failure_of(Action action) { return failure_of(Step{.action = action}); }
  static json::Object sent(const StandIn& stand_in) {
    return parse_json_object(stand_in.requests().back().request.body).value();
  }

  static float likeness(const std::vector<float>& a, const std::vector<float>& b) {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  const std::vector<std::string> kTexts = {"the heart and its valves", "a bill of last March",
                                           "rain over the sea", "\u5fc3\u81d3", "five"};
};

TEST_F(Embeddings, VectorsBelongToTheirTextsWhateverTheOrderOfTheAnswer) {  // G12, B-19
  const auto answer = embed(kTexts);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_EQ(answer->vectors.size(), kTexts.size());
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    EXPECT_GT(likeness(answer->vectors[i], stand_in_embedding(kTexts[i], 64)), 0.999F) << i;
  }
  EXPECT_TRUE(answer->usage.reported);
  EXPECT_GT(answer->usage.input, 0U);
  EXPECT_EQ(answer->model, "stand-in-embed");
}

TEST_F(Embeddings, Base64IsAskedForAndNumbersAreTakenToo) {
  ASSERT_TRUE(embed(kTexts).has_value());
  EXPECT_EQ(sent(stand_in).at("encoding_format"), "base64");
  EXPECT_FALSE(sent(stand_in).contains("dimensions"));
  stand_in.push(Action::as_floats);
  const auto answer = embed(kTexts);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_GT(likeness(answer->vectors[3], stand_in_embedding(kTexts[3], 64)), 0.999F);
}

TEST_F(Embeddings, AnswersThatDoNotFitTheTextsAreRefusedWhole) {  // G12
  for (const auto action : {Action::short_answer, Action::duplicate_index, Action::wrong_index,
                            Action::wrong_dimension, Action::not_a_number}) {
    SCOPED_TRACE(to_string(action));
    const auto failure = failure_of(action);
    EXPECT_EQ(failure.kind, Kind::retry);
    EXPECT_EQ(failure.error_type, "vectors_mismatch");
    EXPECT_TRUE(failure.maybe_charged);
    ASSERT_TRUE(failure.usage.has_value());
  }
  EXPECT_EQ(failure_of(Action::wrong_shape).error_type, "bad_answer");
  EXPECT_EQ(failure_of(Action::wrong_json).error_type, "bad_answer");
}

// Compatible servers send every member, also when it says nothing.
TEST_F(Embeddings, AnEmptyErrorBesideVectorsIsNone) {
  for (const auto* error : {"null", R"("")", "{}", "[]", "false", "0", R"({"code":0})",
                            R"({"message":"","type":"","param":null,"code":null})"}) {
    SCOPED_TRACE(error);
    stand_in.push(Step{.action = Action::custom,
                       .status = 200,
                       .headers = {{"Content-Type", "application/json"}},
                       .body = fmt::format(R"({{"error":{},"object":"list","model":"m","data":[
                           {{"index":0,"embedding":[0.5,0.5]}}],"usage":{{"prompt_tokens":3}}}})",
                                           error)});
    const auto answer = embed({"text"});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->vectors.size(), 1U);
    EXPECT_EQ(answer->usage.input, 3U);
  }
  EXPECT_EQ(failure_of(Action::inner_error).kind, Kind::retry);
}

TEST_F(Embeddings, AKnownDimensionIsHeldAgainstTheAnswer) {
  auto known = options();
  known.model = "text-embedding-3-small";
  const auto right = embed({"text"}, known);
  ASSERT_TRUE(right.has_value()) << right.error().message;
  EXPECT_EQ(right->vectors.front().size(), 1'536U);
  // A gateway that answers with another model's vectors.
  stand_in.push(Step{.action = Action::custom,
                     .status = 200,
                     .headers = {{"Content-Type", "application/json"}},
                     .body = R"({"data":[{"index":0,"embedding":[0.5,0.5]}]})"});
  const auto wrong = embed({"text"}, known);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().error_type, "vectors_mismatch");
}

TEST_F(Embeddings, ShorterVectorsAreVectorsOfAnotherModel) {
  auto shorter = options();
  shorter.model = "text-embedding-3-small";
  shorter.dimensions = 256;
  OpenAiEmbeddings client_of(client, clock, shorter);
  EXPECT_EQ(client_of.info().model, "text-embedding-3-small@256");
  EXPECT_EQ(client_of.info().dimension, 256);
  EXPECT_EQ(client_of.name(), "openai:text-embedding-3-small");
  const auto answer = run_blocking(io, client_of.embed({"text"}, {}));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->vectors.front().size(), 256U);
  EXPECT_EQ(sent(stand_in).at("dimensions"), 256);
  // The service refuses what the model cannot do; for good.
  shorter.model = "text-embedding-ada-002";
  const auto refused = embed({"text"}, shorter);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, Kind::permanent);
}

TEST_F(Embeddings, WhatNoServiceTakesIsNotSent) {  // B-15
  const auto refused = [&](std::vector<std::string> texts) {
    const auto answer = embed(std::move(texts));
    return !answer && answer.error().kind == Kind::permanent && answer.error().status == 0;
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({"a", "", "b"}));
  EXPECT_TRUE(refused(std::vector<std::string>(257, "x")));
  EXPECT_TRUE(refused({std::string(8'193, 'x')}));
  EXPECT_TRUE(refused(std::vector<std::string>(37, std::string(8'190, 'x'))));
  EXPECT_EQ(stand_in.requests().size(), 0U);
}

// Spaces do not decide: a text without any has as many tokens as bytes, for all we know (E13).
TEST_F(Embeddings, TokensAreBoundedByBytesUnlessATokenizerIsGiven) {  // L-17
  OpenAiEmbeddings plain(client, clock, options());
  EXPECT_EQ(plain.count_tokens(std::string(1'000, 'x')), 1'000U);
  EXPECT_EQ(plain.count_tokens("\u5fc3"), 3U);
  EXPECT_EQ(plain.tokenizer(), "bytes");
  auto given = options();
  given.count_tokens = [](std::string_view text) { return text.size() / 4; };
  given.tokenizer = "cl100k";
  OpenAiEmbeddings exact(client, clock, given);
  EXPECT_EQ(exact.count_tokens(std::string(1'000, 'x')), 250U);
  EXPECT_EQ(exact.tokenizer(), "cl100k");
}

// What our bound let pass and the service does not: the batch is to be split.
TEST_F(Embeddings, TooManyTokensForTheServiceIsASignalToSplit) {
  auto generous = options();
  generous.count_tokens = [](std::string_view) { return 1; };
  const auto too_long = embed({std::string(40'000, 'x')}, generous);
  ASSERT_FALSE(too_long.has_value());
  EXPECT_EQ(too_long.error().kind, Kind::permanent);
  EXPECT_EQ(too_long.error().error_type, provider::kTooLarge);
  const auto too_many = embed(std::vector<std::string>(60, std::string(24'000, 'x')), generous);
  ASSERT_FALSE(too_many.has_value());
  EXPECT_EQ(too_many.error().error_type, provider::kTooLarge);
  EXPECT_EQ(too_many.error().provider_code, "max_tokens_per_request");
  EXPECT_EQ(failure_of(Action::too_large).provider_code, "context_length_exceeded");
  // Nothing of it was paid for.
  EXPECT_EQ(stand_in.paid().report().at("texts_paid").as_uint64(), 0U);
}

TEST_F(Embeddings, LimitsMoneyAndTroubleAreToldApart) {  // R-10, R-11, R-20
  auto failure = failure_of(Step{.action = Action::throttle, .retry_after = "7"});
  EXPECT_EQ(failure.kind, Kind::throttled);
  EXPECT_EQ(failure.retry_after, 7s);
  EXPECT_EQ(failure_of(Action::throttle_bare).kind, Kind::throttled);
  failure = failure_of(Action::slow_down);
  EXPECT_EQ(failure.kind, Kind::throttled);
  EXPECT_EQ(failure.error_type, "slow_down");
  EXPECT_EQ(failure_of(Action::quota).kind, Kind::blocked);
  EXPECT_EQ(failure_of(Action::auth).kind, Kind::blocked);
  EXPECT_EQ(failure_of(Action::unavailable).kind, Kind::retry);
  EXPECT_EQ(failure_of(Action::unavailable_told).kind, Kind::throttled);
  EXPECT_EQ(failure_of(Action::server_error).kind, Kind::retry);
  EXPECT_EQ(failure_of(Action::redirect).kind, Kind::permanent);
  EXPECT_EQ(failure_of(Action::gateway).kind, Kind::retry);
  EXPECT_TRUE(failure_of(Action::inner_error).maybe_charged);
}

TEST_F(Embeddings, AnAnswerThatDidNotArriveMayHaveBeenCharged) {  // F08
  timeouts.first_byte = 300ms;
  for (const auto action : {Action::cut, Action::reset_after, Action::stall}) {
    SCOPED_TRACE(to_string(action));
    const auto failure = failure_of(action);
    EXPECT_EQ(failure.kind, Kind::unknown);
    EXPECT_TRUE(failure.maybe_charged);
  }
  // The stand-in did the work each time, and wrote it on the bill.
  EXPECT_EQ(stand_in.paid().times(kTexts.front()), 3U);
}

TEST_F(Embeddings, EveryTextThatWasWorkedOnIsOnTheBill) {
  ASSERT_TRUE(embed(kTexts).has_value());
  ASSERT_TRUE(embed({kTexts.front()}).has_value());
  failure_of(Action::throttle);
  EXPECT_EQ(stand_in.paid().times(kTexts[0]), 2U);
  EXPECT_EQ(stand_in.paid().times(kTexts[1]), 1U);
  EXPECT_EQ(stand_in.paid().times("never sent"), 0U);
  const auto twice = stand_in.paid().list(1, 10);
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_EQ(twice.front().at("sha256").as_string(), sha256_hex(kTexts[0]));
}

TEST_F(Embeddings, WhatTheServiceSaysOfItsLimitsIsHandedOn) {
  stand_in.set_limits(std::string(kKey), {.requests = 100, .tokens = 100'000});
  const auto answer = embed(kTexts);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->rate.requests.limit, 100U);
  EXPECT_EQ(answer->rate.requests.remaining, 99U);
  EXPECT_TRUE(answer->rate.tokens.reset.has_value());
}

TEST_F(Embeddings, NeitherKeyNorTextIsRepeatedInMessages) {
  const auto failure = failure_of(Action::echo);
  EXPECT_EQ(failure.kind, Kind::permanent);
  EXPECT_THAT(failure.message, testing::Not(testing::HasSubstr(std::string(kKey))));
  EXPECT_THAT(failure.message, testing::Not(testing::HasSubstr("valves")));
}

TEST(EmbedOptions, EachWrongOneIsNamed) {
  const auto message = [](auto change) {
    OpenAiEmbedOptions options{.api_key = Secret<std::string>("sk-x")};
    change(options);
    const auto checked = provider::check_options(options);
    return checked ? std::string() : checked.error().message;
  };
  using testing::HasSubstr;
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_THAT(message([](auto& o) { o.base_url = "http://192.0.2.1/v1"; }), HasSubstr("base_url"));
  EXPECT_THAT(message([](auto& o) { o.api_key = {}; }), HasSubstr("api_key"));
  EXPECT_THAT(message([](auto& o) { o.model = "m@3"; }), HasSubstr("embed_model"));
  EXPECT_THAT(message([](auto& o) { o.dimensions = -1; }), HasSubstr("embed_dimensions"));
  EXPECT_THAT(message([](auto& o) { o.inputs_max = 2'049; }), HasSubstr("embed_inputs_max"));
  EXPECT_THAT(message([](auto& o) { o.version = ""; }), HasSubstr("embed_version"));
}

TEST(DecodeVector, TakesLittleEndianFloatsAndNothingElse) {
  const auto vector = provider::decode_vector("AACAPwAAAMA=");
  ASSERT_TRUE(vector.has_value());
  EXPECT_THAT(*vector, testing::ElementsAre(1.0F, -2.0F));
  EXPECT_FALSE(provider::decode_vector("AACA").has_value());
  EXPECT_FALSE(provider::decode_vector("AACAPw=").has_value());
  EXPECT_FALSE(provider::decode_vector("A*CAPw==").has_value());
}

}  // namespace
}  // namespace millrace::test
