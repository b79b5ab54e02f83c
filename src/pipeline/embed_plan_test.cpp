#include "pipeline/embed_plan.h"

#include "pipeline/embedding_choice.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

using testing::ElementsAre;

// A token for each byte.
class FakeProvider final : public provider::EmbeddingProvider {
 public:
  explicit FakeProvider(provider::EmbedBatchLimits limits) : limits_(limits) {}
  std::string_view name() const override { return "fake:m"; }
  const provider::EmbeddingModelInfo& info() const override { return info_; }
  provider::EmbedBatchLimits limits() const override { return limits_; }
  std::string_view tokenizer() const override { return "bytes"; }
  std::uint64_t count_tokens(std::string_view text) const override { return text.size(); }
  bool paid() const override { return true; }
  awaitable<provider::Answer<provider::EmbedAnswer>> embed(std::vector<std::string>,
                                                           CancelToken) override {
    co_return provider::EmbedAnswer{};
  }

 private:
  provider::EmbedBatchLimits limits_;
  provider::EmbeddingModelInfo info_{.model = "m", .version = "1", .dimension = 2};
};

std::vector<store::PendingChunk> waiting(const std::vector<std::string>& texts) {
  std::vector<store::PendingChunk> chunks;
  for (const auto& text : texts) {
    chunks.push_back({.ord = static_cast<int>(chunks.size()), .embed_sha256 = text, .text = text});
  }
  return chunks;
}

// B-16: the smallest of all limits counts.
TEST(EmbedPlan, b16_ABatchEndsAtTheFirstLimitThatItReaches) {
  const FakeProvider provider(
      {.inputs_max = 3, .tokens_per_input_max = 100, .tokens_total_max = 10});
  const auto chunks = waiting({"aaaa", "bbbb", "cc", "dd", "e"});
  EXPECT_EQ(plan_batch(chunks, provider, budget_of(provider.limits(), 256)).texts.size(), 3U);
  EXPECT_EQ(plan_batch(chunks, provider, budget_of(provider.limits(), 2)).texts.size(), 2U);
  auto budget = budget_of(provider.limits(), 256);
  budget.tokens_total_max = 9;
  EXPECT_EQ(plan_batch(chunks, provider, budget).texts.size(), 2U);
  budget = budget_of(provider.limits(), 256);
  budget.bytes_max = 4;
  EXPECT_EQ(plan_batch(chunks, provider, budget).texts.size(), 1U);
  EXPECT_EQ(plan_batch({}, provider, budget).chunks(), 0U);
}

TEST(EmbedPlan, b15_NoBatchHasMoreThan256) {
  const FakeProvider provider(
      {.inputs_max = 2'048, .tokens_per_input_max = 100, .tokens_total_max = 1'000'000});
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back(std::to_string(i));
  EXPECT_EQ(plan_batch(waiting(texts), provider, budget_of(provider.limits(), 256)).chunks(), 256U);
  EXPECT_EQ(budget_of(provider.limits(), 10'000).inputs_max, 256U);
}

TEST(EmbedPlan, EqualTextsAreSentOnce) {
  const FakeProvider provider(
      {.inputs_max = 2, .tokens_per_input_max = 100, .tokens_total_max = 100});
  const auto batch =
      plan_batch(waiting({"a", "b", "a", "b", "c"}), provider, budget_of(provider.limits(), 256));
  EXPECT_THAT(batch.texts, ElementsAre("a", "b"));
  EXPECT_THAT(batch.text_of, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(batch.tokens, 2U);
}

// Services refuse them, and a document may have thousands of them in a row.
TEST(EmbedPlan, BlankTextsAreSentAsOneThatIsNone) {
  const FakeProvider provider(
      {.inputs_max = 9, .tokens_per_input_max = 100, .tokens_total_max = 100});
  const auto batch =
      plan_batch(waiting({"a", std::string(9'000, ' '), "\n\t", "b", "\u00a0\u200b"}), provider,
                 budget_of(provider.limits(), 256));
  EXPECT_THAT(batch.texts, ElementsAre("a", ".", "b"));
  EXPECT_THAT(batch.text_of, ElementsAre(0, 1, 1, 2, 1));
  EXPECT_EQ(batch.tokens, 3U);
  EXPECT_FALSE(provider::check_embed_request(provider, batch.texts));
}

// A text that is too long alone is found before it is sent, not left out.
TEST(EmbedPlan, ATextAboveTheLimitsIsABatchOfItsOwnThatIsRefused) {
  const FakeProvider provider({.inputs_max = 9, .tokens_per_input_max = 3, .tokens_total_max = 5});
  const auto batch =
      plan_batch(waiting({"aaaaaaa", "b"}), provider, budget_of(provider.limits(), 256));
  EXPECT_THAT(batch.texts, ElementsAre("aaaaaaa"));
  const auto wrong = provider::check_embed_request(provider, batch.texts);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->kind, provider::CallFailure::Kind::permanent);
  EXPECT_EQ(wrong->message, "text 0 has up to 7 tokens, the model takes 3");
  // Nor does it hold up those before it, or share their batch.
  const FakeProvider roomy({.inputs_max = 9, .tokens_per_input_max = 3, .tokens_total_max = 50});
  const auto chunks = waiting({"a", "b", "ccccccc", "d"});
  const auto budget = budget_of(roomy.limits(), 256);
  EXPECT_THAT(plan_batch(chunks, roomy, budget).texts, ElementsAre("a", "b"));
  EXPECT_THAT(plan_batch(std::span(chunks).subspan(2), roomy, budget).texts,
              ElementsAre("ccccccc"));
}

// --- How texts are cut for a model ---

Stage chunk_stage(json::Object options = {}) {
  Stage stage;
  stage.kind = RunKind::chunk;
  stage.options = std::move(options);
  return stage;
}

TEST(ChunkOptions, FollowTheModel) {
  const FakeProvider small({.tokens_per_input_max = 128});
  auto options = chunk_options(chunk_stage(), small);
  EXPECT_EQ(options.max_tokens, 128U);
  EXPECT_EQ(options.target_tokens, 96U);
  EXPECT_EQ(options.min_tokens, 16U);
  EXPECT_TRUE(chunk::check_options(options, *counter_of(small)));
  const FakeProvider large({.tokens_per_input_max = 8'192});
  EXPECT_EQ(chunk_options(chunk_stage(), large).max_tokens, 2'048U);
  EXPECT_EQ(chunk_options(chunk_stage({{"max_tokens", 6'000}}), large).max_tokens, 6'000U);
}

// What a file says above the model's limit is the limit: no text is ever truncated.
TEST(ChunkOptions, AreNeverAboveTheLimitOfTheModel) {
  const FakeProvider small({.tokens_per_input_max = 128});
  const auto options = chunk_options(chunk_stage({{"max_tokens", 2'000},
                                                  {"target_tokens", 1'500},
                                                  {"min_tokens", 500},
                                                  {"overlap_tokens", 300}}),
                                     small);
  EXPECT_EQ(options.max_tokens, 128U);
  EXPECT_EQ(options.target_tokens, 128U);
  EXPECT_EQ(options.min_tokens, 64U);
  EXPECT_EQ(options.overlap_tokens, 19U);
  EXPECT_TRUE(chunk::check_options(options, *counter_of(small)));
}

}  // namespace
}  // namespace millrace::pipeline
