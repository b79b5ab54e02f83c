#include "app/search/question_form.h"

#include "base/assert.h"

#include <cstddef>
#include <utility>

namespace millrace::app {
namespace {

constexpr float kPart = 0.4F;  // Chosen by questions of bench/retrieval, as weights are.

}  // namespace

std::vector<std::string> empty_questions() {
  return {"How do I do this?",
          "What happens if I do that?",
          "When may I do it?",
          "How long does it take?",
          "How much does it cost?",
          "Who is responsible for this?",
          "Where can I find it?",
          "Why is that so?",
          "Can I do this myself?",
          "What should I do now?",
          "Is it allowed?",
          "Do I have to pay for it?",
          "Which one should I use?",
          "How often do I have to do this?",
          "May I do that?",
          "What if something goes wrong?",
          "Who can help me with this?",
          "What is the deadline?",
          "How many are there?",
          "Is there a limit?",
          "What do I need?",
          "Whom do I tell?",
          "What is it for?",
          "How can I get one?",
          "Are we allowed to do that?",
          "What does it mean?",
          "When does it start?",
          "When does it end?",
          "Why did this happen?",
          "Does it matter?"};
}

QuestionForm::QuestionForm(std::span<const std::vector<float>> vectors) {
  MR_ASSERT(!vectors.empty());
  mean_.resize(vectors.front().size());
  for (const auto& vector : vectors) {
    MR_ASSERT(vector.size() == mean_.size());
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += vector[i];
  }
  for (auto& value : mean_) value /= static_cast<float>(vectors.size());
}

std::vector<float> QuestionForm::taken_out_of(std::vector<float> question) const {
  if (question.size() != mean_.size()) return question;
  for (std::size_t i = 0; i < mean_.size(); ++i) question[i] -= kPart * mean_[i];
  return question;
}

}  // namespace millrace::app
