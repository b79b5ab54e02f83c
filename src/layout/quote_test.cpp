#include "layout/quote.h"

#include "base/random.h"
#include "layout/code_points.h"
#include "layout/edit_distance.h"
#include "layout/folded_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace millrace::layout {
namespace {

// The table, cell by cell.
std::size_t plain_distance(std::u32string_view a, std::u32string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::u32string random_text(Random& random, std::size_t length_max) {
  std::u32string text;
  for (auto n = random.below(length_max); n > 0; --n) text += U"abc é"[random.below(5)];
  return text;
}

TEST(EditDistance, IsThatOfTheTable) {
  SeededRandom random(3);
  for (int round = 0; round < 300; ++round) {
    const auto a = random_text(random, 200);
    const auto b = round % 3 == 0 ? random_text(random, 200) : a + random_text(random, 5) + a;
    ASSERT_EQ(edit_distance(a, b), plain_distance(a, b));
  }
  EXPECT_EQ(edit_distance(U"", U"abc"), 3U);
  EXPECT_EQ(edit_distance(U"", U""), 0U);
  const std::u32string long_a(1000, U'x');
  EXPECT_EQ(edit_distance(long_a, long_a + U"y"), 1U);
}

// The least distance of any part of the text: the table with nothing to pay above and behind.
std::size_t plain_search(std::u32string_view pattern, std::u32string_view text) {
  std::vector<std::size_t> column(pattern.size() + 1);
  std::iota(column.begin(), column.end(), 0);
  auto best = pattern.size();
  for (const auto character : text) {
    auto diagonal = column[0];
    for (std::size_t i = 1; i <= pattern.size(); ++i) {
      const auto left = column[i];
      column[i] =
          std::min({left + 1, column[i - 1] + 1, diagonal + (pattern[i - 1] == character ? 0 : 1)});
      diagonal = left;
    }
    best = std::min(best, column.back());
  }
  return best;
}

TEST(ApproximateSearch, FindsTheNearestPart) {
  SeededRandom random(9);
  for (int round = 0; round < 300; ++round) {
    const auto pattern = random_text(random, 90) + U"a";
    const auto text = random_text(random, 200);
    const auto match = find_approximate(pattern, text, pattern.size());
    const auto best = plain_search(pattern, text);
    ASSERT_EQ(match.has_value(), best < pattern.size());
    if (!match) continue;
    ASSERT_EQ(match->distance, best);
    const auto part = std::u32string_view(text).substr(match->begin, match->end - match->begin);
    ASSERT_EQ(plain_distance(pattern, part), best);
    ASSERT_FALSE(best > 0 && find_approximate(pattern, text, best - 1).has_value());
  }
}

TEST(FoldedText, ForgetsWhatSaysNothing) {
  EXPECT_EQ(folded_utf8("  The “ﬁrst”\n\tDOSE – 5 μg "), "the \"first\" dose - 5 \u00b5g");
  EXPECT_EQ(folded_utf8("hyper-\ntension and follow-\nUp"), "hypertension and follow- up");
  EXPECT_EQ(folded_utf8("soft\u00adhyphen"), "softhyphen");
}

TEST(FoldedText, EveryCharacterKnowsWhereItCameFrom) {
  const std::string text = "Ä  ﬁve-\nfold";
  const auto folded = fold(text);
  EXPECT_EQ(folded.chars, U"ä fivefold");
  ASSERT_EQ(folded.sources.size(), folded.chars.size());
  const auto all = folded.source_of(2, folded.chars.size());
  EXPECT_EQ(text.substr(all.begin, all.size()), "ﬁve-\nfold");
}

constexpr std::string_view kText =
    "Discharge medication: Metformin 500 mg twice daily.\nAspirin 75 mg daily. The hyper-\n"
    "tension is controlled. Metformin was tolerated. Normal sinus rhythm.";

std::string found(std::string_view quote, std::optional<std::uint32_t> near = std::nullopt) {
  const auto match = QuoteFinder(kText).find(quote, near);
  return match ? std::string(kText.substr(match->bytes.begin, match->bytes.size())) : "nothing";
}

TEST(Quote, IsFoundWithoutRegardToCaseSpacesAndDividedWords) {
  EXPECT_EQ(found("METFORMIN  500 mg"), "Metformin 500 mg");
  EXPECT_EQ(found("hypertension"), "hyper-\ntension");
  EXPECT_EQ(found("daily. aspirin"), "daily.\nAspirin");
}

TEST(Quote, MisreadLettersAreForgivenWithinABound) {
  EXPECT_EQ(found("Metfornnin"), "Metformin");
  EXPECT_EQ(found("normal sinus rythm"), "Normal sinus rhythm");
  EXPECT_EQ(found("Paracetamol"), "nothing");
  EXPECT_EQ(found("Asp"), "nothing");
}

TEST(Quote, NumbersAreNeverForgiven) {
  EXPECT_EQ(found("Metformin 50 mg twice daily"), "nothing");
  EXPECT_EQ(found("Metformin 5000 mg twice daily"), "nothing");
  EXPECT_EQ(found("Metforrnin 500 mg twice daily"), "Metformin 500 mg twice daily");
}

TEST(Quote, OnlyWholeWordsCount) {
  EXPECT_EQ(found("form"), "nothing");
  EXPECT_EQ(found("no"), "nothing");
  EXPECT_EQ(found("50"), "nothing");
  EXPECT_EQ(found("sinus"), "sinus");
}

TEST(Quote, OfSeveralPlacesTheNearestIsTaken) {
  const QuoteFinder finder(kText);
  const auto second = static_cast<std::uint32_t>(kText.rfind("Metformin"));
  EXPECT_EQ(finder.find("metformin")->bytes.begin, kText.find("Metformin"));
  EXPECT_EQ(finder.find("metformin", second - 3)->bytes.begin, second);
  EXPECT_EQ(finder.find_around("metformin", second)->bytes.begin, second);
}

TEST(Quote, NothingIsFoundInNothing) {
  EXPECT_FALSE(QuoteFinder("").find("a").has_value());
  EXPECT_FALSE(QuoteFinder("a").find("").has_value());
  EXPECT_FALSE(QuoteFinder("a").find(" \n ").has_value());
  EXPECT_FALSE(QuoteFinder("a b").find(std::string(100'000, 'a')).has_value());
  EXPECT_FALSE(QuoteFinder("a b").find_around("abcdef", 400).has_value());
}

// Whatever is searched in whatever: what is found lies in the text, on the borders of characters.
TEST(Quote, MatchesAreAlwaysPartsOfTheText) {
  SeededRandom random(21);
  const std::u32string alphabet = U"ab1 .,-\né\u00adﬁ";
  const auto make = [&](std::size_t length) {
    std::string text;
    for (auto n = random.below(length); n > 0; --n) {
      append_utf8(text, alphabet[random.below(alphabet.size())]);
    }
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const auto text = make(80);
    const auto match = QuoteFinder(text).find(make(12), random.below(90));
    if (!match) continue;
    ASSERT_LT(match->bytes.begin, match->bytes.end);
    ASSERT_LE(match->bytes.end, text.size());
    ASSERT_TRUE(is_utf8(text.substr(match->bytes.begin, match->bytes.size())));
  }
}

}  // namespace
}  // namespace millrace::layout
