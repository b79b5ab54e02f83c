#include "embed/text/unigram_tokenizer.h"
#include "embed/text/wordpiece_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

TEST(UnigramTokenizer, CountsWithPiecesOfAnyLength) {
  const auto tokenizer = unigram(R"(["▁",-2],["a",-3],[")" + std::string(40, 'a') + R"(",-4])");
  EXPECT_EQ(tokenizer.count(std::string(83, 'a')), 6U);
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

TEST(WordpieceTokenizer, RefusesWhatIsNoVocabulary) {
  EXPECT_THAT(WordpieceTokenizer::read("[UNK]\n[CLS]\n##a\n").error().message, HasSubstr("[SEP]"));
  EXPECT_THAT(WordpieceTokenizer::read("[UNK]\n[CLS]\n[SEP]\na\n").error().message,
              HasSubstr("continues a word"));
  EXPECT_THAT(WordpieceTokenizer::read("[UNK]\n\n[CLS]\n").error().message, HasSubstr("line 2"));
}

}  // namespace
}  // namespace millrace::embed
