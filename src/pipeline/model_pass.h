// A pass by a model: requests of layout/clinical go to a provider, one after the other, each on
// record and within limits and budget; what they are answered is handed on as it comes.
//
// An answer is kept with the end of its call before the next question is asked, under a digest of
// all that it depends on, until the result of the page is: a delivery that ends in between costs
// nothing but the question in flight. One that cannot be used ends the pass for good: nobody is
// paid for asking again, and a person finds it with the page. So does a refusal of what a question
// says. A question that is too large for the model is put in smaller ones first.
#pragma once

#include "layout/clinical/pass_prompt.h"
#include "pipeline/stage_job.h"

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

// What the answers to all questions cost, whenever they were paid for.
struct PassAnswers {
  std::string model;  // That answered.
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::int64_t cost_micros = 0;
  // Of the first call of this delivery, for which the claim took the room; 0: there was none.
  std::uint64_t tokens_of_claim = 0;
};

// Why there are no answers. `review`: what is known of one that cannot be used; empty: it is for
// another reason.
struct PassEnd {
  Outcome outcome;
  json::Object review = {};
};

// What a pass asks, and who takes the answers.
struct PassQuestions {
  // For requests of a size; an error says why there are none.
  std::function<Result<std::vector<layout::clinical::PassRequest>>(
      const layout::clinical::PromptOptions& options)>
      make;
  std::string_view cannot_be_made;  // The error_type of that.
  // Before the first request, and again when all are asked anew in smaller ones: what was taken
  // until then is void.
  std::function<void()> begin;
  // Each answer in the order of the requests; an error says why it cannot be used.
  std::function<Result<void>(const json::Value& answer)> take;
};

awaitable<std::expected<PassAnswers, PassEnd>> ask_model(StageJob& job, const ModelService& service,
                                                         PassQuestions questions);

// The model of the stage; null for `local`. blocked when it is not configured here, or when neither
// the stage nor the settings say which model to ask.
std::expected<const ModelService*, Outcome> model_of(const StageJob& job);
std::string no_model(std::string_view provider);  // "no model is named: set anthropic.model"
// Whom the stage asks, as limits name it: "openai:gpt-4o-mini".
std::string asked_name(const StageJob& job, const ModelService& service);

// provider, model, tokens and cost, for the result's meta.
void note_answers(json::Object& meta, std::string provider, const PassAnswers& answers);

}  // namespace millrace::pipeline
