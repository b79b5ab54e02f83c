// QuestionForm: what questions have in common, whatever they ask about.
//
// Vectors of questions lean one way because they are questions, so passages that sound like one
// (you, may, when) come near to all of them. The mean of questions about nothing tells which way;
// part of it is taken out of the vector of a question before passages are compared with it
// (docs/search.md has figures). A plain value. Threading: any.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace millrace::app {

// Questions about nothing, in English, to be embedded by the model of the questions.
std::vector<std::string> empty_questions();

class QuestionForm {
 public:
  // Of the vectors of empty_questions(): at least one, all of one size.
  explicit QuestionForm(std::span<const std::vector<float>> vectors);

  // A vector of another size comes back as it is. Its length changes: cosines do not mind.
  std::vector<float> taken_out_of(std::vector<float> question) const;

 private:
  std::vector<float> mean_;
};

}  // namespace millrace::app
