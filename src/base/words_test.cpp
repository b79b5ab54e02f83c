#include "base/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitWords, QuotesGroupAndABackslashTakesTheNextLetter) {
  EXPECT_THAT(*split_words("a 'b c' d\\ e \"f'g\""), ElementsAre("a", "b c", "d e", "f'g"));
  EXPECT_THAT(*split_words("a  ''\tb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(*split_words("  "), IsEmpty());
}

TEST(SplitWords, RefusesAnOpenQuoteAndABackslashAtTheEnd) {
  EXPECT_FALSE(split_words("'open"));
  EXPECT_FALSE(split_words("end\\"));
}

TEST(NearestWord, FindsTheMeantWordOrNothing) {
  EXPECT_EQ(nearest_word("slotz", {"slots", "lease"}), "slots");
  EXPECT_EQ(nearest_word("timout", {"title", "timeout"}), "timeout");
  EXPECT_EQ(nearest_word("zzzzzz", {"slots", "lease"}), std::nullopt);
  EXPECT_EQ(nearest_word("", {"slots"}), std::nullopt);
}

}  // namespace
}  // namespace millrace
