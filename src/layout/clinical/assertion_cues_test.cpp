// Words beside a mention that deny or suppose it.
#include "layout/clinical/assertion_cues.h"

#include <gtest/gtest.h>

#include <string_view>

namespace millrace::layout::clinical {
namespace {

Cues cues_of(std::string_view text, std::string_view mention) {
  const auto begin = text.find(mention);
  EXPECT_NE(begin, text.npos) << text;
  return cues_around(text, {.begin = static_cast<std::uint32_t>(begin),
                            .end = static_cast<std::uint32_t>(begin + mention.size())});
}

TEST(AssertionCues, KnowContractions) {
  EXPECT_TRUE(cues_of("She doesn't take aspirin.", "aspirin").negated);
  EXPECT_TRUE(cues_of("She doesn\u2019t take aspirin.", "aspirin").negated);
  EXPECT_TRUE(cues_of("He isn't taking lisinopril.", "lisinopril").negated);
  EXPECT_TRUE(cues_of("He hasn't been on metformin.", "metformin").negated);
  EXPECT_TRUE(cues_of("CT didn't show pneumonia.", "pneumonia").negated);
}

TEST(AssertionCues, AreNotTakenFromWhatDeniesSomethingElse) {
  EXPECT_FALSE(cues_of("Pressure isn't well controlled on lisinopril.", "lisinopril").negated);
  EXPECT_FALSE(cues_of("Don't stop lisinopril.", "lisinopril").negated);
  EXPECT_FALSE(cues_of("She didn't respond to amoxicillin.", "amoxicillin").negated);
  EXPECT_FALSE(cues_of("We can't rule out pneumonia.", "pneumonia").negated);
  EXPECT_FALSE(cues_of("He doesn't smoke but has gout.", "gout").negated);
}

TEST(AssertionCues, TellAReasonFromACondition) {
  const auto given = cues_of("DVT prophylaxis with enoxaparin 40 mg", "enoxaparin");
  EXPECT_FALSE(given.hypothetical);
  EXPECT_TRUE(given.purpose);
  EXPECT_TRUE(cues_of("Return if fever occurs.", "fever").hypothetical);
}

}  // namespace
}  // namespace millrace::layout::clinical
