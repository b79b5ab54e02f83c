#include "base/random.h"
#include "embed/text/unigram_tokenizer.h"
#include "embed/text/wordpiece_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace millrace::embed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Tokens 0 … 5 are reserved.
UnigramTokenizer unigram(const std::string& pieces) {
  return UnigramTokenizer::read(
             R"([["\ufffd",0],["<s>",0],["</s>",0],["x1",0],["x2",0],["x3",0],)" + pieces + "]")
      .value();
}

TEST(UnigramTokenizer, TakesThePiecesWithTheHighestSum) {
  // 6 ▁, 7 a, 8 b, 9 ▁a, 10 ab, 11 ▁ab
  const auto tokenizer = unigram(R"(["▁",-2],["a",-3],["b",-3],["▁a",-3],["ab",-3.5],["▁ab",-8])");
  EXPECT_THAT(tokenizer.tokens("ab"), ElementsAre(6, 10));  // -5.5 before -6 and -8.
  EXPECT_THAT(tokenizer.tokens("a  ab"), ElementsAre(9, 6, 10));
  EXPECT_THAT(tokenizer.tokens("b\na"), ElementsAre(6, 8, 9));
  EXPECT_EQ(tokenizer.count("a ab\tb"), 5U);
}

TEST(UnigramTokenizer, MakesOneTokenOfUnknownNeighbours) {
  const auto tokenizer = unigram(R"(["▁",-2],["a",-3])");
  EXPECT_THAT(tokenizer.tokens("a??a"), ElementsAre(6, 7, 0, 7));
  EXPECT_THAT(tokenizer.tokens("日本 語"), ElementsAre(6, 0, 6, 0));
  EXPECT_EQ(tokenizer.count("a??a"), 4U);
}

TEST(UnigramTokenizer, HasNoTokensForNothing) {
  const auto tokenizer = unigram(R"(["▁",-2])");
  EXPECT_THAT(tokenizer.tokens(""), IsEmpty());
  EXPECT_THAT(tokenizer.tokens(" \n "), IsEmpty());
  EXPECT_EQ(tokenizer.count(" "), 0U);
}

TEST(UnigramTokenizer, CountsAMissingScoreAsNothing) {
  const auto tokenizer = unigram(R"(["▁",-2],[":",null],["::",-1])");
  EXPECT_THAT(tokenizer.tokens("::"), ElementsAre(6, 7, 7));
}

TEST(UnigramTokenizer, CountsWhatItWouldGive) {
  // No piece "a" or "é": the search meets places that it has not reached. ":" costs nothing.
  const auto tokenizer = unigram(
      R"(["▁",-2],["ab",-3],["b",-3.5],["▁a",-4],["abb",-5],[":",null],["éb",-1],[":b",2],["c",-1])");
  std::uint64_t state = 1;
  const auto below = [&state](std::uint64_t bound) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33U) % bound;
  };
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (auto n = below(60); n > 0; --n) {
      static constexpr std::string_view kParts[] = {"a", "b", "c", ":", "é", "日", "?", " ", "ab"};
      text += kParts[below(std::size(kParts))];
    }
    ASSERT_EQ(tokenizer.count(text), tokenizer.tokens(text).size()) << text;
  }
}

// Words that are remembered, as they stand in texts of any kind.
std::string text_of(std::span<const std::string_view> parts, Random& random) {
  std::string text;
  for (auto n = random.below(80); n > 0; --n) {
    text += parts[random.below(parts.size())];
    if (random.below(3) == 0) text += random.below(4) == 0 ? "\n" : " ";
  }
  return text;
}

void expect_same_counts(const Tokenizer& tokenizer, std::span<const std::string_view> parts) {
  const auto tally = tokenizer.tally();
  SeededRandom random(7);
  for (int i = 0; i < 4000; ++i) {
    const auto text = text_of(parts, random);
    ASSERT_EQ(tally->count(text), tokenizer.tokens(text).size()) << text;
  }
}

TEST(UnigramTokenizer, RemembersWordsAndCountsAlike) {
  expect_same_counts(
      unigram(
          R"(["▁",-2],["a",-3],["b",-3.1],["▁a",-3.7],["ab",-5.3],["ba",-4.9],["1⁄2",-9],["é",-4])"),
      std::to_array<std::string_view>({"a", "b", "ab", "½", "e\u0301", "日", "\u00ad", "\u00a0"}));
}

// ":" costs nothing, ":b" less, and there are places that no piece reaches: what a word has for
// tokens depends on the sum of the words before it.
TEST(UnigramTokenizer, RemembersNoWordThatDependsOnThoseBeforeIt) {
  expect_same_counts(
      unigram(
          R"(["▁",-2],["ab",-3],["b",-3.5],["▁a",-4],["abb",-5],[":",null],["éb",-1],[":b",2],["c",-1])"),
      std::to_array<std::string_view>({"a", "b", "c", ":", "é", "日", "?", "ab", "c:b"}));
}

// Ways of two and of three tokens with equal sums: which is taken is up to the last bits of the
// sum of all words before.
TEST(UnigramTokenizer, RemembersNoWordThatIsUpToTheLastBits) {
  expect_same_counts(
      unigram(
          R"(["▁",-2.1],["a",-3.3],["b",-1.1],["ab",-4.4],["▁a",-5.4],["aab",-7.7],["abb",-5.5],["ba",-4.4])"),
      std::to_array<std::string_view>({"a", "b", "ab", "ba", "aab", "abb"}));
}

TEST(UnigramTokenizer, RemembersMoreWordsThanItHasRoomFor) {
  const auto tokenizer = unigram(R"(["▁",-2],["1",-3],["0",-3.1],["10",-4],["23",-4.2],["▁4",-3])");
  const auto tally = tokenizer.tally();
  for (int round = 0; round < 2; ++round) {
    std::string text;
    for (int i = 0; i < 30'000; ++i) text += std::to_string(i * 7919 % 100'003) + " ";
    EXPECT_EQ(tally->count(text), tokenizer.tokens(text).size());
    EXPECT_EQ(tally->count(text.substr(0, 3000)), tokenizer.count(text.substr(0, 3000)));
  }
}

TEST(UnigramTokenizer, CountsWithPiecesOfAnyLength) {
  const auto tokenizer = unigram(R"(["▁",-2],["a",-3],[")" + std::string(40, 'a') + R"(",-4])");
  EXPECT_EQ(tokenizer.count(std::string(83, 'a')), 6U);
  EXPECT_EQ(tokenizer.tally()->count(std::string(83, 'a')), 6U);
}

TEST(UnigramTokenizer, NeverReadsReservedPiecesFromAText) {
  const auto tokenizer = unigram(R"(["▁",-2],["<",-3],["s",-3],[">",-3])");
  EXPECT_THAT(tokenizer.tokens("<s>"), ElementsAre(6, 7, 8, 9));
}

TEST(UnigramTokenizer, RefusesWhatIsNoVocabulary) {
  for (const std::string_view broken :
       {"", "{}", "[]", R"([["a",0]])", R"([1,2,3,4,5,6,7])",
        R"([["a",0],["b",0],["c",0],["d",0],["e",0],["f",0],["g","h"]])",
        R"([["a",0],["b",0],["c",0],["d",0],["e",0],["f",0],["",0]])",
        R"([["a",0],["b",0],["c",0],["d",0],["e",0],["f",0],["g▁h",0]])"}) {
    const auto read = UnigramTokenizer::read(broken);
    ASSERT_FALSE(read.has_value()) << broken;
    EXPECT_EQ(read.error().kind, ErrorKind::invalid_argument);
  }
}

// 0 [UNK], 1 [CLS], 2 [SEP], 3 un, 4 ##aff, 5 ##able, 6 a, 7 ##a, 8 "!", 9 日, 10 ##f
WordpieceTokenizer wordpiece() {
  return WordpieceTokenizer::read("[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\na\n##a\n!\n日\n##f\n")
      .value();
}

TEST(WordpieceTokenizer, TakesTheLongestPieceFirst) {
  EXPECT_THAT(wordpiece().tokens("UNaffable"), ElementsAre(3, 4, 5));
  EXPECT_THAT(wordpiece().tokens("una"), ElementsAre(3, 7));
  EXPECT_THAT(wordpiece().tokens("unaf"), ElementsAre(3, 7, 10));
  EXPECT_EQ(wordpiece().count("a unaffable una"), 6U);
}

TEST(WordpieceTokenizer, LetsSignsAndIdeographsStandAlone) {
  EXPECT_THAT(wordpiece().tokens("a!!a"), ElementsAre(6, 8, 8, 6));
  EXPECT_THAT(wordpiece().tokens("a日日a"), ElementsAre(6, 9, 9, 6));
}

TEST(WordpieceTokenizer, TakesAWordForUnknownWhenAPartOfItIs) {
  EXPECT_THAT(wordpiece().tokens("unx a unable"), ElementsAre(0, 6, 3, 5));
  EXPECT_THAT(wordpiece().tokens("a" + std::string(99, 'a')).size(), 100U);
  EXPECT_THAT(wordpiece().tokens("a" + std::string(100, 'a')), ElementsAre(0));
}

TEST(WordpieceTokenizer, KeepsItsSpecialTokensToItself) {
  EXPECT_THAT(wordpiece().tokens("[CLS]"), ElementsAre(0, 0, 0));
  EXPECT_EQ(wordpiece().begin_token(), 1);
  EXPECT_EQ(wordpiece().end_token(), 2);
}

TEST(WordpieceTokenizer, RemembersWordsAndCountsAlike) {
  const std::string longest(120, 'a');
  expect_same_counts(wordpiece(), std::to_array<std::string_view>(
                                      {"un", "AFF", "able", "a", "!", "日", "f", "x", longest}));
}

TEST(WordpieceTokenizer, RefusesWhatIsNoVocabulary) {
  EXPECT_THAT(WordpieceTokenizer::read("[UNK]\n[CLS]\n##a\n").error().message, HasSubstr("[SEP]"));
  EXPECT_THAT(WordpieceTokenizer::read("[UNK]\n[CLS]\n[SEP]\na\n").error().message,
              HasSubstr("continues a word"));
  EXPECT_THAT(WordpieceTokenizer::read("[UNK]\n\n[CLS]\n").error().message, HasSubstr("line 2"));
}

}  // namespace
}  // namespace millrace::embed
