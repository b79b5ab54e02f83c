// What holds of every text, tried on many.
#include "chunk/bench/texts.h"
#include "chunk/chunker_fixture.h"
#include "chunk/nasty_markdown.h"
#include "chunk/normalise.h"

#include <clocale>

namespace millrace::chunk {
namespace {

using testing::all_of;
using testing::broken_promise;
using testing::NastyMarkdown;
using testing::try_chunks;

// Not additive, as tokenizers are: words of up to five letters and every other byte.
std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  std::size_t run = 0;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    run = letter ? run + 1 : 0;
    if (c != ' ' && (!letter || run % 5 == 1)) ++count;
  }
  return count;
}

ChunkOptions options_of(Random& random) {
  ChunkOptions options;
  options.max_tokens = 70 + random.below(random.below(4) == 0 ? 3000 : 400);
  options.target_tokens = options.max_tokens / 2 + random.below(options.max_tokens / 2);
  options.min_tokens = random.below(options.target_tokens / 2 + 1);
  options.max_bytes = random.below(3) == 0 ? 256 + random.below(2000) : 0;
  options.prefix_share_percent = random.below(26);
  options.overlap_tokens = random.below(2) == 0 ? 0 : options.max_tokens * 15 / 100;
  if (random.below(2) == 0) options.first_page = 1;
  return options;
}

// B-08, B-25 and rule 1: 12 000 texts, each cut whole and in pieces. Answers a digest of all that
// came of them.
void try_texts(std::uint64_t first_seed, std::uint64_t count, const TokenCounter& counter,
               std::string& digest) {
  Sha256 all;
  for (auto seed = first_seed; seed < first_seed + count; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    auto text = NastyMarkdown(seed).document();
    if (random.below(8) != 0) text = normalise(text);  // Else any bytes: they tile too.
    const auto options = options_of(random);
    const auto whole = try_chunks(text, options, counter);
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    ASSERT_EQ(broken_promise(text, *whole, options, counter), "") << params_text(options, counter);
    const auto piece_max = random.below(3) == 0 ? 1 : 1 + random.below(5000);
    const auto pieces = try_chunks(text, options, counter, &random, piece_max);
    ASSERT_TRUE(pieces.has_value());
    const auto made = all_of(*whole);
    ASSERT_EQ(all_of(*pieces), made) << params_text(options, counter);
    all.update(made);
  }
  digest = to_hex(all.finish());
}

TEST(ChunkerProperties, HoldForTenThousandTextsCountedByBytes) {
  std::string digest;
  try_texts(1, 10'000, ByteBound(), digest);
  // Version 1 cuts as it always did.
  EXPECT_EQ(digest, "cb474105fb0d97e56b7ae9989c1802a775f3d639e09b0ad549c6b636e2d70f94");
}

TEST(ChunkerProperties, HoldForTextsCountedByATokenizer) {
  std::string digest;
  try_texts(100'001, 2000, FunctionTokenCounter("words@1", count_words, 3), digest);
  EXPECT_EQ(digest, "da9d783fa3147265729436234e04e4c073e0e034f96859f169f22c6d6c47e8df");
}

// Rule 8, locale: the result is the same under one whose letters and digits differ.
TEST(ChunkerProperties, DoNotDependOnTheLocale) {
  const auto text = normalise(NastyMarkdown(7).document() + NastyMarkdown(11).document());
  const auto plain =
      testing::chunks_of(text, {.max_tokens = 200, .target_tokens = 150, .min_tokens = 20});
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const auto* name : {"tr_TR.UTF-8", "de_DE.UTF-8", "C.UTF-8", "POSIX"}) {
    static_cast<void>(std::setlocale(LC_ALL, name));
    const auto other =
        testing::chunks_of(text, {.max_tokens = 200, .target_tokens = 150, .min_tokens = 20});
    EXPECT_EQ(all_of(other), all_of(plain)) << name;
  }
  static_cast<void>(std::setlocale(LC_ALL, before.c_str()));
}

// Rule 8, order dependence: what was cut before leaves no trace.
TEST(ChunkerProperties, DoNotDependOnWhatWasCutBefore) {
  const ChunkOptions options{.max_tokens = 300, .target_tokens = 200, .min_tokens = 50};
  std::vector<std::string> forwards;
  std::vector<std::string> backwards;
  for (int seed = 0; seed < 50; ++seed) {
    forwards.push_back(all_of(testing::chunks_of(NastyMarkdown(seed).document(), options)));
  }
  for (int seed = 49; seed >= 0; --seed) {
    backwards.push_back(all_of(testing::chunks_of(NastyMarkdown(seed).document(), options)));
  }
  std::ranges::reverse(backwards);
  EXPECT_EQ(forwards, backwards);
}

// B-08: the version promises this; a change here needs a new one.
TEST(ChunkerProperties, VersionOneCutsAsItAlwaysDid) {
  std::string all;
  for (int seed = 1000; seed < 1100; ++seed) {
    const auto text = normalise(NastyMarkdown(seed).document());
    all += all_of(testing::chunks_of(
        text, {.max_tokens = 400, .target_tokens = 300, .min_tokens = 60, .overlap_tokens = 50}));
  }
  EXPECT_EQ(to_hex(sha256_of(all)),
            "5a4b785c41b494a402abd820b9e05c419231fd1f24c8fc45472353f7a10264e1");
}

// The same of texts that are nothing but structure, white space or odd characters.
TEST(ChunkerProperties, VersionOneCutsOddTextsAsItAlwaysDid) {
  std::string all;
  for (const auto& odd : bench::all_texts()) {
    const auto text = normalise(odd.head + odd.body.substr(0, 10'000));
    all += all_of(testing::chunks_of(text));
    all += all_of(testing::chunks_of(
        text, {.max_tokens = 400, .target_tokens = 300, .min_tokens = 60, .overlap_tokens = 50},
        FunctionTokenCounter("words@1", count_words, 3)));
  }
  EXPECT_EQ(to_hex(sha256_of(all)),
            "10e0d24efccb36c6ebeff819806949a8b153b62576c99bd84e30406801268b7a");
}

}  // namespace
}  // namespace millrace::chunk
