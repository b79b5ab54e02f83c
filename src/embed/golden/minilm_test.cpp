// The second model against a plain calculation of it. Needs build/models/minilm
// (tools/setup_minilm).
#include "embed/embedder.h"
#include "embed/golden/golden.h"
#include "embed/text/wordpiece_tokenizer.h"

#include <gtest/gtest.h>

namespace millrace::embed {
namespace {

const std::filesystem::path kFolder = std::string(MILLRACE_MODELS_DIR) + "/minilm";

class MiniLm : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_embedder({.model = std::string(kMiniLm), .folder = kFolder});
    ASSERT_TRUE(opened.has_value()) << opened.error().describe();
    embedder_ = *std::move(opened);
  }
  std::unique_ptr<const Embedder> embedder_;
};

TEST_F(MiniLm, SaysWhatItIs) {
  EXPECT_EQ(embedder_->name(), "all-MiniLM-L6-v2");
  EXPECT_EQ(embedder_->dimension(), 384U);
  EXPECT_EQ(embedder_->tokens_max(), 254U);
}

TEST_F(MiniLm, AgreesWithAPlainCalculation) {
  expect_golden(*embedder_, Golden::read("minilm.json"));
}

TEST_F(MiniLm, SplitsTextsLikeItsOwnTokenizer) {
  const auto tokenizer = WordpieceTokenizer::read(read_file(kFolder / "vocab.txt").value()).value();
  for (const auto& wanted : Golden::read("minilm.json").texts) {
    EXPECT_EQ(tokenizer.tokens(wanted.text), wanted.tokens) << wanted.text;
  }
}

TEST_F(MiniLm, GivesATextTheSameBitsWhateverStandsBesideIt) {
  const auto golden = Golden::read("minilm.json");
  const auto together = embedder_->embed(golden.views()).value();
  for (std::size_t i = 0; i < together.size(); ++i) {
    const std::string_view text = golden.texts[i].text;
    EXPECT_TRUE(same_bits(together[i].vector, embedder_->embed(std::array{text}).value()[0].vector))
        << text;
  }
}

}  // namespace
}  // namespace millrace::embed
