#include "pipeline/local_embeddings.h"

#include "base/run.h"

#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::pipeline {
namespace {

// Knows letters and points, a token each, and refuses what has none, as the models do. A vector is
// how many it has.
class LetterEmbedder final : public embed::Embedder {
 public:
  std::string_view name() const override { return "letters"; }
  std::string_view version() const override { return "1"; }
  std::size_t dimension() const override { return 1; }
  std::size_t tokens_max() const override { return 8; }
  std::size_t count_tokens(std::string_view text) const override {
    return static_cast<std::size_t>(std::ranges::count_if(text, is_known));
  }
  std::unique_ptr<embed::TokenTally> tally() const override { return nullptr; }
  Result<std::vector<embed::Embedding>> embed(
      std::span<const std::string_view> texts) const override {
    std::vector<embed::Embedding> out;
    for (const auto text : texts) {
      const auto tokens = count_tokens(text);
      if (tokens == 0) return fail(ErrorKind::invalid_argument, "a text is blank");
      out.push_back({.vector = {static_cast<float>(tokens)}, .tokens = tokens});
    }
    return out;
  }

 private:
  static bool is_known(char c) { return (c >= 'a' && c <= 'z') || c == '.'; }
};

// Chunks of a long run of spaces are texts, too.
TEST(LocalEmbeddings, ATextWithoutTokensFailsNoOther) {
  boost::asio::thread_pool threads(1);
  LocalEmbeddings local(std::make_unique<LetterEmbedder>(), threads.get_executor());
  const auto answer =
      run_blocking(local.embed({"one", std::string(9'000, ' '), "\u200b", "three"}, CancelToken()));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->vectors, (std::vector<std::vector<float>>{{3.0F}, {1.0F}, {1.0F}, {5.0F}}));
  EXPECT_EQ(answer->usage.input, 10U);
}

}  // namespace
}  // namespace millrace::pipeline
