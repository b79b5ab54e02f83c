// A pass by a model: requests of layout/clinical go to a provider, one after the other, each on
// record and within the budget; the answers come back as JSON values.
//
// One page is one request in all but rare cases: the room that the claim took at the provider's
// limits is for it. Every further one takes its own.
#pragma once

#include "layout/clinical/pass_prompt.h"
#include "pipeline/stage_job.h"

#include <expected>
#include <string>
#include <vector>

namespace millrace::pipeline {

struct PassAnswers {
  std::vector<json::Value> values;
  std::string model;  // That answered.
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::int64_t cost_micros = 0;
  std::uint64_t tokens_of_claim =
      0;  // Of the first request; further ones are settled by themselves.
};

// The outcome says why there are no answers.
awaitable<std::expected<PassAnswers, Outcome>> ask_model(
    StageJob& job, const ModelService& service,
    std::vector<layout::clinical::PassRequest> requests);

// An answer that cannot be used: the same question may be answered better. The attempts of the
// stage and the budget of the tenant bound what that may cost.
Outcome unusable_answer(std::string_view why);

// The model of the stage; null for `local`. blocked when it is not configured here.
std::expected<const ModelService*, Outcome> model_of(const StageJob& job);

// provider, model, tokens and cost, for the result's meta.
void note_answers(json::Object& meta, const ModelService& service, const PassAnswers& answers);

}  // namespace millrace::pipeline
