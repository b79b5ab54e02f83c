#include "app/search/question_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millrace::app {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

TEST(QuestionForm, TakesPartOfTheMeanOut) {
  const std::vector<std::vector<float>> vectors{{1, 0, 0}, {0, 0, 1}};
  const QuestionForm form(vectors);
  EXPECT_THAT(form.taken_out_of({0.6F, 0.8F, 0}),
              ElementsAre(FloatNear(0.4F, 1e-6F), FloatNear(0.8F, 1e-6F), FloatNear(-0.2F, 1e-6F)));
}

TEST(QuestionForm, LeavesVectorsOfOtherSizesAsTheyAre) {
  const std::vector<std::vector<float>> vectors{{1, 0, 0}};
  EXPECT_THAT(QuestionForm(vectors).taken_out_of({0.5F, 0.5F}), ElementsAre(0.5F, 0.5F));
}

// Even a question that is all form has a vector afterwards: zeros are compared with nothing.
TEST(QuestionForm, NoVectorOfLengthOneVanishes) {
  const std::vector<std::vector<float>> vectors{{1, 0}};
  EXPECT_THAT(QuestionForm(vectors).taken_out_of({1, 0}), ElementsAre(FloatNear(0.6F, 1e-6F), 0));
}

TEST(QuestionForm, EmptyQuestionsAreDifferentQuestions) {
  const auto all = empty_questions();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  for (const auto& one : all) EXPECT_TRUE(one.ends_with('?')) << one;
}

}  // namespace
}  // namespace millrace::app
