// Values without I/O: money, messages without secrets, names, batches, verdicts.
#include "base/random.h"
#include "http/message.h"
#include "provider/base64.h"
#include "provider/chat.h"
#include "provider/clamd.h"
#include "provider/openai_chat.h"
#include "provider/price.h"
#include "provider/refused.h"
#include "provider/reply_json.h"
#include "provider/scrub.h"
#include "provider/vision_ocr.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace millrace::provider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Tokens, TextWithoutSpacesIsNotFree) {  // E13
  const std::string page(4'000, 'x');
  EXPECT_EQ(estimate_tokens(page), 4'000u);
  EXPECT_EQ(estimate_tokens("\u65e5\u672c"), 6u);
  ChatRequest request{.system = "ab", .user = "cde", .max_output_tokens = 100};
  const auto usage = estimate_usage(request);
  EXPECT_GE(usage.input, 5u);
  EXPECT_EQ(usage.output, 100u);
  request.image = PageImage{};
  EXPECT_EQ(estimate_usage(request, 777).input, usage.input + 777);
  request.schema = json::Object{{"type", "object"}};
  EXPECT_EQ(estimate_usage(request, 777).input, usage.input + 777 + 17);
}

TEST(Money, IsRoundedUpInMillionths) {
  const Price price{.input_per_million = 2'500'000, .output_per_million = 10'000'000};
  EXPECT_EQ(cost_of({.input = 1'000'000}, price), 2'500'000);
  EXPECT_EQ(cost_of({.input = 1, .output = 1}, price), 3 + 10);
  EXPECT_EQ(cost_of({}, price), 0);
  EXPECT_EQ(cost_of({}, {.per_call = 1'500}), 1'500);
}

TEST(Money, CachedInputHasAPriceOfItsOwn) {
  const Price price{.input_per_million = 1'000'000, .cached_per_million = 100'000};
  EXPECT_EQ(cost_of({.input = 1'000, .cached = 400}, price), 600 + 40);
  EXPECT_EQ(cost_of({.input = 10, .cached = 400}, price), 1);  // Never more cached than there is.
}

TEST(Money, DoesNotOverflow) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const Usage usage{.input = std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(cost_of(usage, {.input_per_million = kMost}), kMost);
}

TEST(Money, TheReservationCoversTheBill) {  // E08: settled both ways, the estimate is the most.
  SeededRandom random(7);
  for (int i = 0; i < 1'000; ++i) {
    const Price price{.input_per_million = static_cast<std::int64_t>(random.below(50'000'000)),
                      .output_per_million = static_cast<std::int64_t>(random.below(50'000'000)),
                      .per_call = static_cast<std::int64_t>(random.below(1'000))};
    ChatRequest request{.user = std::string(random.below(5'000), 'a'),
                        .max_output_tokens = static_cast<int>(random.below(4'000)) + 1};
    const auto bound = estimate_usage(request);
    const Usage used{.input = random.below(bound.input + 1),
                     .output = random.below(bound.output + 1)};
    ASSERT_LE(cost_of(used, price), cost_of(bound, price));
  }
}

TEST(Money, ReadsAmountsExactly) {
  EXPECT_EQ(parse_money("2.50").value(), 2'500'000);
  EXPECT_EQ(parse_money("0.000001").value(), 1);
  EXPECT_EQ(parse_money("1000000").value(), 1'000'000'000'000);
  for (const auto* text : {"", "-1", "1.", ".5", "1e3", "0.0000001", "1000001", "1,5", "1 "}) {
    EXPECT_FALSE(parse_money(text).has_value()) << text;
  }
}

TEST(Prices, AModelWithoutAPriceHasNone) {
  PriceTable table;
  table.set("small", {.input_per_million = 5});
  ASSERT_NE(table.find("small"), nullptr);
  EXPECT_EQ(table.find("large"), nullptr);
  table.set_otherwise({.input_per_million = 9});
  EXPECT_EQ(table.find("large")->input_per_million, 9);
}

TEST(Prices, AnAnswerCostsWhatTheModelThatGaveItCosts) {
  PriceTable table;
  table.set("small", {.input_per_million = 5});
  table.set("large", {.input_per_million = 50});
  table.set_otherwise({.input_per_million = 9});
  const auto asked = *table.find("small");
  EXPECT_EQ(table.of_answer("large", asked).input_per_million, 50);
  // Services say their models with dates; what nobody named is no other model.
  EXPECT_EQ(table.of_answer("small-2026-01-01", asked).input_per_million, 5);
  EXPECT_EQ(table.of_answer("", asked).input_per_million, 5);
}

TEST(Prices, OfModelsAreReadWithTheirNames) {
  const auto price = parse_model_price(" Qwen/Qwen2.5:14b 2.50  10 ").value();
  EXPECT_EQ(price.model, "Qwen/Qwen2.5:14b");
  EXPECT_EQ(price.price.input_per_million, 2'500'000);
  EXPECT_EQ(price.price.output_per_million, 10'000'000);
  for (const auto* text : {"", "gpt-4o", "gpt-4o 1", "gpt-4o 1 x", "gpt-4o -1 1", "gpt-4o 1 2 3"}) {
    EXPECT_FALSE(parse_model_price(text).has_value()) << text;
  }
}

using std::chrono::milliseconds;

TEST(Hold, IsTheTimeUntilTheNextCallWouldBeTaken) {
  const Usage next{.input = 300, .output = 100};
  // 60 in a minute, none left: one is free again after a second.
  EXPECT_EQ(
      hold_of({.requests = {.limit = 60, .remaining = 0, .reset = milliseconds(60'000)}}, next),
      milliseconds(1'000));
  EXPECT_EQ(
      hold_of({.requests = {.limit = 60, .remaining = 1, .reset = milliseconds(59'000)}}, next),
      milliseconds(0));
  // Of tokens as many must be free as the call takes: 300 of the 900 that are missing.
  EXPECT_EQ(
      hold_of({.tokens = {.limit = 1'000, .remaining = 100, .reset = milliseconds(9'000)}}, next),
      milliseconds(3'000));
  EXPECT_EQ(
      hold_of({.input_tokens = {.limit = 1'000, .remaining = 100, .reset = milliseconds(9'000)},
               .output_tokens = {.limit = 100, .remaining = 50, .reset = milliseconds(400)}},
              next),
      milliseconds(2'000))
      << "the longest of them";
  // A call that is larger than the whole bucket waits for a full one.
  EXPECT_EQ(hold_of({.tokens = {.limit = 200, .remaining = 0, .reset = milliseconds(700)}}, next),
            milliseconds(700));
  // Rounded up.
  EXPECT_EQ(hold_of({.requests = {.limit = 3, .remaining = 0, .reset = milliseconds(100)}}, next),
            milliseconds(34));
}

TEST(Hold, WhatCannotBeBelievedSaysNothing) {
  const Usage next{.input = 300, .output = 100};
  EXPECT_EQ(hold_of({}, next), milliseconds(0));
  // Without its size, an empty bucket is waited for as a whole; one with something in it is not.
  EXPECT_EQ(hold_of({.requests = {.remaining = 0, .reset = milliseconds(5'000)}}, next),
            milliseconds(5'000));
  EXPECT_EQ(hold_of({.tokens = {.remaining = 10, .reset = milliseconds(5'000)}}, next),
            milliseconds(0));
  EXPECT_EQ(hold_of({.requests = {.limit = 0, .remaining = 0, .reset = milliseconds(5'000)}}, next),
            milliseconds(5'000));
  EXPECT_EQ(hold_of({.requests = {.limit = 5, .remaining = 9, .reset = milliseconds(5'000)}}, next),
            milliseconds(0));
  EXPECT_EQ(hold_of({.requests = {.limit = 60, .remaining = 0}}, next), milliseconds(0));
  EXPECT_EQ(hold_of({.requests = {.limit = 60, .remaining = 0, .reset = milliseconds(-5)}}, next),
            milliseconds(0));
  // Never longer than an hour.
  EXPECT_EQ(hold_of({.requests = {.remaining = 0, .reset = std::chrono::hours(90)}}, next),
            kWaitMax);
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_LE(hold_of({.tokens = {.limit = kHuge, .remaining = 0, .reset = std::chrono::hours(1)}},
                    {.input = kTokensMax}),
            kWaitMax);
}

TEST(Outcomes, AThrottledCallWaitsAsLongAsItsLimitSaysWhereNobodySaysHowLong) {
  CallFailure failure{
      .kind = CallFailure::Kind::throttled,
      .rate = {.requests = {.limit = 60, .remaining = 0, .reset = milliseconds(60'000)}}};
  EXPECT_EQ(to_outcome(failure, "openai:m").retry_after, milliseconds(1'000));
  failure.retry_after = milliseconds(7);
  EXPECT_EQ(to_outcome(failure, "openai:m").retry_after, milliseconds(7));
  failure = {.kind = CallFailure::Kind::throttled};
  EXPECT_EQ(to_outcome(failure, "openai:m").retry_after, std::nullopt);
}

TEST(Scrub, KeysAreNotRepeated) {
  const std::vector<std::string_view> secrets = {"sk-proj-abcdefghijklmnop"};
  EXPECT_EQ(scrub("Incorrect API key provided: sk-proj-abcdefghijklmnop.", {.secrets = secrets}),
            "Incorrect API key provided: [...].");
  // Nor most of one.
  EXPECT_THAT(scrub("key sk-proj-abcdefghi was cut", {.secrets = secrets}),
              Not(HasSubstr("abcdefghi")));
}

TEST(Scrub, DocumentsAreNotRepeated) {  // T-09
  const std::string page = "12| Patient Zo\u00eb M\u00fcller was admitted with pneumonia";
  const auto said = scrub(
      "Invalid value: 'pneumonia'. The input 'Patient Zo\u00eb M\u00fcller was' is not allowed "
      "in messages[1].content",
      {.private_text = page});
  EXPECT_THAT(said, Not(HasSubstr("pneumonia")));
  EXPECT_THAT(said, Not(HasSubstr("M\u00fcller")));
  EXPECT_THAT(said, HasSubstr("Invalid value"));
  EXPECT_THAT(said, HasSubstr("is not allowed in messages[1].content"));
}

TEST(Scrub, IsOneLineOfLimitedLength) {
  EXPECT_EQ(scrub("a\nb\tc\x7f", {}), "a b c ");
  EXPECT_LE(scrub(std::string(100'000, 'a'), {}).size(), 410u);
  EXPECT_EQ(scrub("", {}), "");
}

TEST(WireNames, HaveLettersThatServicesAllow) {
  EXPECT_EQ(wire_name("clinical.detect/1"), "clinical_detect_1");
  EXPECT_EQ(wire_name(""), "answer");
  EXPECT_EQ(wire_name(std::string(100, 'a')).size(), 64u);
}

TEST(Base64, IsThatOfTheStandard) {  // RFC 4648 §10
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  const std::string large((3 << 20) + 1, '\0');  // More than one piece.
  const auto text = base64_encode(large);
  EXPECT_EQ(text.size(), base64_size(large.size()));
  EXPECT_EQ(text.find_first_not_of('A'), text.size() - 2);
}

TEST(ReplyJson, WhatIsMissingIsNotThere) {
  const json::Value value = parse_json(R"({"a":{"b":"x","n":3,"f":1.2,"neg":-1,"l":[1]}})").value();
  EXPECT_EQ(text_at(value, {"a", "b"}), "x");
  EXPECT_EQ(text_at(value, {"a", "n"}), "3");
  EXPECT_EQ(text_at(value, {"a", "b", "c"}), "");
  EXPECT_EQ(text_at(value, {"a", "l"}), "");
  EXPECT_EQ(count_at(value, {"a", "n"}), 3u);
  EXPECT_EQ(count_at(value, {"a", "f"}), 2u);
  EXPECT_EQ(count_at(value, {"a", "neg"}), std::nullopt);
  EXPECT_NE(array_at(value, {"a", "l"}), nullptr);
  EXPECT_EQ(array_at(value, {"a"}), nullptr);
  EXPECT_EQ(text_at(json::Value(), {"a"}), "");
}

TEST(ReplyJson, WhatIsEmptyIsNotTold) {
  const json::Value value =
      parse_json(
          R"({"null":null,"text":"","list":[],"object":{},"no":false,"zero":0,"is":{"a":1}})")
          .value();
  for (const auto* name : {"null", "text", "list", "object", "missing"}) {
    EXPECT_EQ(told_at(value, {name}), nullptr) << name;
  }
  for (const auto* name : {"no", "zero", "is"}) EXPECT_NE(told_at(value, {name}), nullptr) << name;
}

TEST(ReplyJson, AnErrorThatSaysNothingIsNone) {
  const auto is_error = [](std::string_view error) {
    const auto body = parse_json(fmt::format(R"({{"error":{}}})", error)).value();
    return error_at(body, {"error"}) != nullptr;
  };
  for (const auto* none :
       {"null", "false", "0", "0.0", R"("")", "[]", "{}", "[null]", R"({"code":0})",
        R"({"message":"","type":"","param":null,"code":null})", R"({"a":{"b":{"c":[]}}})"}) {
    EXPECT_FALSE(is_error(none)) << none;
  }
  for (const auto* error :
       {"true", "1", "-1", R"("x")", R"({"code":7})", R"({"code":0,"message":"m"})", "[{}, 5]",
        R"({"a":{"b":{"c":["d"]}}})", R"({"a":{"b":{"c":{"too deep":{}}}}})"}) {
    EXPECT_TRUE(is_error(error)) << error;
  }
  EXPECT_EQ(error_at(json::Value(), {"error"}), nullptr);
}

// A page of hundreds that was cut inside a character does not take the others with it.
TEST(ReplyJson, HalfASurrogatePairInAnAnswerIsOneBadCharacter) {
  const auto body = body_json(
      {.status = 200, .body = R"({"markdown":"cut \ud83d","id":"\\ud83d"})"}, 1024 * 1024);
  EXPECT_EQ(text_at(body, {"markdown"}), "cut \xef\xbf\xbd");
  EXPECT_EQ(text_at(body, {"id"}), "\\ud83d");
  EXPECT_TRUE(body_json({.status = 200, .body = "{\"a\":"}, 1024 * 1024).is_null());
}

TEST(OpenAiErrors, AreReadInAllTheirForms) {
  const auto of = [](std::string_view text, int status = 400) {
    return openai_refusal(parse_json(text).value(), status);
  };
  auto refusal = of(R"({"error":{"message":"m","type":"t","param":null,"code":"c"}})");
  EXPECT_THAT(refusal.words, ElementsAre("c", "t"));
  EXPECT_EQ(refusal.message, "m");
  refusal = of(R"({"object":"error","message":"m","type":"BadRequestError","code":400})");
  EXPECT_THAT(refusal.words, ElementsAre("400", "BadRequestError"));
  EXPECT_EQ(of(R"({"error":"model 'x' not found"})").message, "model 'x' not found");
  EXPECT_EQ(of(R"({"detail":"Not Found"})", 404).message, "Not Found");
  EXPECT_EQ(of(R"({"error":{"message":"m","code":429}})", 200).status, 429);
  EXPECT_EQ(of(R"({"error":{"message":"m","code":null}})", 200).status, 500);
  EXPECT_EQ(openai_refusal(json::Value(), 502).status, 502);
}

TEST(VisionBatches, AreWithinTheLimitsAndLoseNothing) {
  const VisionLimits limits{.images_max = 3, .request_max_bytes = 10'000};
  const std::vector<std::size_t> sizes = {100, 100, 100, 100, 6'000, 6'000, 50'000, 1};
  EXPECT_THAT(vision_batches(sizes, limits), ElementsAre(3, 2, 1, 1, 1));
  EXPECT_THAT(vision_batches({}, limits), ElementsAre());
}

TEST(ClamdReply, IsAVerdictOrAReason) {
  EXPECT_FALSE(parse_clamd_reply("stream: OK").value().found);
  const auto found = parse_clamd_reply("stream: Eicar-Test-Signature.UNOFFICIAL FOUND").value();
  EXPECT_TRUE(found.found);
  EXPECT_EQ(found.signature, "Eicar-Test-Signature.UNOFFICIAL");
  EXPECT_FALSE(found.incomplete);
  EXPECT_TRUE(
      parse_clamd_reply("stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND").value().incomplete);
  EXPECT_EQ(parse_clamd_reply("INSTREAM size limit exceeded. ERROR").error().error_type,
            "too_large");
  EXPECT_EQ(parse_clamd_reply("INSTREAM size limit exceeded. ERROR").error().kind,
            CallFailure::Kind::permanent);
  EXPECT_EQ(parse_clamd_reply("stream: Can't allocate memory ERROR").error().kind,
            CallFailure::Kind::retry);
  // Never taken for clean.
  for (const auto* text : {"", "OK", "stream: FOUND", "stream:  FOUND", "UNKNOWN COMMAND",
                           "stream: OK stream: OK", "HTTP/1.1 200 OK"}) {
    const auto verdict = parse_clamd_reply(text);
    EXPECT_TRUE(!verdict || verdict->found) << text;
  }
}

TEST(Options, AreRefusedByName) {
  OpenAiOptions options{.base_url = "http://models.example:8000/v1",
                        .api_key = Secret<std::string>("k")};
  EXPECT_THAT(check_options(options).error().message, HasSubstr("provider.openai.base_url"));
  options.allow_http = true;
  EXPECT_TRUE(check_options(options).has_value());
  options.base_url = "http://127.0.0.1:11434/v1";
  options.allow_http = false;
  EXPECT_TRUE(check_options(options).has_value());
  options.api_key = {};
  EXPECT_THAT(check_options(options).error().message, HasSubstr("provider.openai.api_key"));
  options.auth = OpenAiOptions::Auth::none;
  EXPECT_TRUE(check_options(options).has_value());
  options.timeouts.idle = std::chrono::milliseconds(0);
  EXPECT_FALSE(check_options(options).has_value());
}

}  // namespace
}  // namespace millrace::provider
