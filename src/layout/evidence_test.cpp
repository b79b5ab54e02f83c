#include "layout/evidence.h"

#include "layout/compare.h"
#include "layout/confidence.h"
#include "layout/sheet.h"
#include "layout/text_layer.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::layout {
namespace {

SpatialMap sample() {
  Sheet page;
  page.lines(60, 100, {"Zoë takes Metformin 500mg", "twice daily with food"});
  return merge_pages({page.map()}).value();
}

TEST(Evidence, BytesLeadToTheWordsTheyTouch) {
  const auto map = sample();
  const auto& page = map.pages[0];
  const auto at = static_cast<std::uint32_t>(page.text.find("500"));
  const auto evidence = evidence_at(page, ByteRange{.begin = at, .end = at + 3});
  ASSERT_TRUE(evidence.has_value());
  EXPECT_EQ(evidence->words, (WordRange{.first = 3, .last = 3}));
  EXPECT_EQ(quoted(map, *evidence), "500");
  const auto across = evidence_at(page, ByteRange{.begin = at, .end = at + 11});
  EXPECT_EQ(quoted(map, *across), "500mg\ntwice");
  EXPECT_EQ(across->words, (WordRange{.first = 3, .last = 4}));
}

TEST(Evidence, WhatIsNoTextIsNoEvidence) {
  const auto map = sample();
  const auto& page = map.pages[0];
  const auto size = static_cast<std::uint32_t>(page.text.size());
  EXPECT_FALSE(evidence_at(page, ByteRange{.begin = 3, .end = 3}).has_value());
  EXPECT_FALSE(evidence_at(page, ByteRange{.begin = 0, .end = size + 1}).has_value());
  EXPECT_FALSE(evidence_at(page, ByteRange{.begin = 4, .end = 5}).has_value());  // The space.
  EXPECT_FALSE(evidence_at(page, WordRange{.first = 0, .last = 99}).has_value());
  EXPECT_FALSE(evidence_at(page, WordRange{.first = 2, .last = 1}).has_value());
}

TEST(Evidence, EveryWordRangeRoundTripsThroughJson) {
  const auto map = sample();
  const auto& page = map.pages[0];
  for (std::uint32_t first = 0; first < page.words.size(); ++first) {
    for (auto last = first; last < page.words.size(); ++last) {
      const auto evidence = evidence_at(page, WordRange{.first = first, .last = last});
      ASSERT_TRUE(evidence.has_value());
      const auto again = evidence_from_json(evidence_to_json(map, *evidence), map);
      ASSERT_TRUE(again.has_value()) << again.error().message;
      EXPECT_EQ(*again, *evidence);
    }
  }
}

TEST(Evidence, JsonThatDoesNotReproduceTheTextIsRefused) {
  const auto map = sample();
  const auto refusal = [&](std::string_view text) {
    const auto evidence = evidence_from_json(parse_json(text).value(), map);
    return evidence ? std::string("accepted") : evidence.error().message;
  };
  EXPECT_EQ(refusal(R"({"page":1,"words":[0,0],"char":[0,3],"text":"Zoë"})"), "accepted");
  EXPECT_EQ(refusal(R"({"page":1,"words":[0,0],"char":[0,3],"text":"Zoe"})"),
            "text is not what stands at char");
  EXPECT_EQ(refusal(R"({"page":1,"words":[0,1],"char":[0,3],"text":"Zoë"})"),
            "words are not those that char covers");
  EXPECT_EQ(refusal(R"({"page":1,"words":[0,0],"char":[0,300],"text":"Zoë"})"),
            "char is outside the text of the page");
  EXPECT_EQ(refusal(R"({"page":2,"words":[0,0],"char":[0,3],"text":"Zoë"})"),
            "page is not in the document");
  EXPECT_EQ(refusal(R"({"page":1,"words":[0],"char":[0,3],"text":"Zoë"})"),
            "words must be two whole numbers in order");
}

TEST(Evidence, HighlightsHaveOneBoxPerLine) {
  const auto map = sample();
  const auto& page = map.pages[0];
  const auto boxes = highlight(page, {.first = 2, .last = 5});
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].x0, page.words[2].box.x0);
  EXPECT_EQ(boxes[0].x1, page.words[3].box.x1);
  EXPECT_EQ(boxes[1].x0, page.words[4].box.x0);
  EXPECT_TRUE(highlight(page, {.first = 0, .last = 99}).empty());
}

TEST(Confidence, WordsAreCountedByBins) {
  auto page = sample().pages[0];
  page.words[0].conf = 0.3;
  page.words[1].conf = 0.7;
  page.words[2].conf.reset();
  const auto sum = confidence_of(page);
  EXPECT_EQ(sum.low, 1U);
  EXPECT_EQ(sum.medium, 1U);
  EXPECT_EQ(sum.unknown, 1U);
  EXPECT_EQ(sum.high, page.words.size() - 3);
  EXPECT_GT(sum.mean, 0.7);
  EXPECT_EQ(sum.tenth_lowest, 0.3);
  EXPECT_EQ(bin_of(0.85), ConfidenceBin::high);
  EXPECT_EQ(bin_of(0.849), ConfidenceBin::medium);
  EXPECT_EQ(bin_of(std::nullopt), ConfidenceBin::unknown);
}

TEST(Confidence, WordsWithDigitsDecideWhereThereAreAny) {
  auto page = sample().pages[0];
  page.words[2].conf = 0.4;  // Metformin
  page.words[3].conf = 0.8;  // 500mg
  EXPECT_EQ(weakest(page, {.first = 2, .last = 3}, true), 0.8);
  EXPECT_EQ(weakest(page, {.first = 2, .last = 3}, false), 0.4);
  EXPECT_EQ(weakest(page, {.first = 2, .last = 2}, true), 0.4);
  page.words[2].conf.reset();
  EXPECT_EQ(weakest(page, {.first = 2, .last = 2}, true), std::nullopt);
}

std::string_view verdict(const std::vector<std::string>& lines) {
  Sheet page;
  page.lines(60, 100, lines);
  const auto judged = judge_text_layer(page.raw());
  return judged.trusted ? "trusted" : judged.reason;
}

TEST(TextLayer, OrdinaryTextAndTablesOfNumbersAreTrusted) {
  EXPECT_EQ(verdict({"The patient was seen in clinic after a fall"}), "trusted");
  EXPECT_EQ(verdict({"13.5 88 4.1 139", "12.0 50 3.5 135", "16.0 110 5.1 145"}), "trusted");
  EXPECT_EQ(verdict({"Пациент был осмотрен в клинике после падения"}), "trusted");
}

TEST(TextLayer, WhatCannotBeReadIsNot) {
  EXPECT_EQ(verdict({}), "too little text");
  EXPECT_EQ(verdict({"Scanned"}), "too little text");
  EXPECT_EQ(verdict({"\uf001\uf002\uf003 \uf004\uf005 some more text to be long enough"}),
            "characters without meaning");
  EXPECT_EQ(verdict({"!\"#$ %&'( )*+, -./: ;<=> ?@[] ^_`{ |}~! \"#$%"}),
            "mostly neither letters nor digits");
  EXPECT_EQ(verdict({"T h e p a t i e n t w a s s e e n i n c l i n i c"}),
            "mostly single letters");
  EXPECT_EQ(verdict({"Wkhsd lwlhq wzdvv hhqlq folqf diwhu idoow krphz lwkrx wsdlq fxuuh"}),
            "words that are none");
}

TEST(Compare, ErrorRatesAreSharesOfTheTruth) {
  EXPECT_EQ(character_errors("abcd", "abxd").errors, 1U);
  EXPECT_DOUBLE_EQ(character_errors("abcd", "abxd").rate(), 0.25);
  EXPECT_EQ(character_errors("a  b\nc", "a b c").errors, 0U);
  EXPECT_EQ(character_errors("", "abc").rate(), 3);
  EXPECT_EQ(character_errors("Größe", "größe").errors, 1U);
  EXPECT_EQ(character_errors("Größe", "größe", {.folded = true}).errors, 0U);
  EXPECT_EQ(word_errors("the cat sat", "the hat sat down").errors, 2U);
  EXPECT_EQ(word_errors("the cat sat", "the hat sat down").expected, 3U);
  auto sum = character_errors("abcd", "abxd");
  sum += character_errors("ab", "");
  EXPECT_DOUBLE_EQ(sum.rate(), 0.5);
}

TEST(Compare, WordsCountAsOftenAsTheyOccur) {
  const auto score = compare_words("a a b c", "a b b d");
  EXPECT_EQ(score.right, 2U);
  EXPECT_DOUBLE_EQ(score.recall(), 0.5);
  EXPECT_DOUBLE_EQ(score.precision(), 0.5);
  EXPECT_DOUBLE_EQ(compare_words("", "").recall(), 1);
}

TEST(Compare, BoxesMustOverlap) {
  const auto page = sample().pages[0];
  auto moved = page.words;
  EXPECT_EQ(compare_boxes(page.words, moved).right, page.words.size());
  moved[2].box.x0 += 0.3;
  moved[2].box.x1 += 0.3;
  EXPECT_EQ(compare_boxes(page.words, moved).right, page.words.size() - 1);
  moved[1].text = "took";
  EXPECT_EQ(compare_boxes(page.words, moved).right, page.words.size() - 2);
}

}  // namespace
}  // namespace millrace::layout
