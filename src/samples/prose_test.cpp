#include "samples/prose.h"

#include "samples/writing/scribe.h"

#include <gtest/gtest.h>

namespace millrace::samples {
namespace {

TEST(Prose, ACapitalAtTheStartOfASentenceChangesTheFactToo) {
  Prose prose;
  prose.say("Seen twice. ");
  const std::size_t from = prose.size();
  prose.state({.type = FactType::condition, .name = "épilepsie"}, "épilepsie connue");
  prose.capitalise(from);
  EXPECT_EQ(prose.text(), "Seen twice. Épilepsie connue");
  EXPECT_EQ(prose.facts()[0].text, "Épilepsie connue");
  EXPECT_EQ(prose.facts()[0].name, "Épilepsie");
}

TEST(Scribe, PatternsSayHowAFactIsMeant) {
  Scribe scribe(Language::en, Chance(3));
  const Prose prose = scribe.write("{he} denies {neg symptom}; mother had {fam cond}.");
  ASSERT_EQ(prose.facts().size(), 2U);
  EXPECT_TRUE(prose.facts()[0].assertion.negated);
  EXPECT_FALSE(prose.facts()[0].assertion.family);
  EXPECT_TRUE(prose.facts()[1].assertion.family);
  EXPECT_TRUE(prose.text().starts_with("He ") || prose.text().starts_with("She "));
}

TEST(Scribe, LiteralFactsAreNoted) {
  Scribe scribe(Language::en, Chance(3));
  const Prose prose = scribe.write("No evidence of [neg condition|pneumothorax].");
  EXPECT_EQ(prose.text(), "No evidence of pneumothorax.");
  ASSERT_EQ(prose.facts().size(), 1U);
  EXPECT_EQ(prose.facts()[0].name, "pneumothorax");
  EXPECT_TRUE(prose.facts()[0].assertion.negated);
}

TEST(Scribe, NumbersFollowTheLanguage) {
  EXPECT_EQ(Scribe(Language::en, Chance(1)).number(5.4, 1), "5.4");
  EXPECT_EQ(Scribe(Language::de, Chance(1)).number(5.4, 1), "5,4");
}

}  // namespace
}  // namespace millrace::samples
