#include "pipeline/model_pass.h"

#include "layout/clinical/pass_schema.h"
#include "pipeline/paid_call.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {
namespace {

using layout::clinical::PassRequest;

provider::ChatRequest chat_request(const StageJob& job, const ModelService& service,
                                   const PassRequest& request, std::size_t number) {
  const auto& claimed = job.context->job();
  provider::ChatRequest chat;
  chat.model = job.option("model", service.model);
  chat.system = request.instructions;
  chat.user = request.input;
  chat.schema_name = layout::clinical::schema_id(request.pass);
  chat.schema = layout::clinical::pass_schema(request.pass, layout::clinical::Form::answer);
  chat.max_output_tokens = service.max_output_tokens;
  if (job.stage->call_timeout) chat.timeout = *job.stage->call_timeout;
  chat.idempotency_key =
      fmt::format("{}-{}-{}-{}", claimed.id, claimed.job_type, claimed.generation, number);
  chat.correlation_id = claimed.correlation_id;
  return chat;
}

}  // namespace

Outcome unusable_answer(std::string_view why) { return Outcome::retry("invalid_answer", why); }

std::expected<const ModelService*, Outcome> model_of(const StageJob& job) {
  const auto& name = job.stage->provider;
  if (name == kLocalProvider || name == kNoProvider) return nullptr;
  const auto found = job.services.models.find(name);
  if (found == job.services.models.end()) {
    return std::unexpected(
        Outcome::not_here(name, fmt::format("provider {} is not configured on this worker", name)));
  }
  return &found->second;
}

awaitable<std::expected<PassAnswers, Outcome>> ask_model(StageJob& job, const ModelService& service,
                                                         std::vector<PassRequest> requests) {
  PassAnswers answers;
  std::size_t number = 0;
  for (const auto& request : requests) {
    auto chat = chat_request(job, service, request, number++);
    const auto estimate = provider::estimate_usage(chat);
    auto permit = co_await begin_paid_call(
        job, {.provider = service.provider,
              .model = chat.model,
              .request_sha256 = sha256_hex(chat.system + '\n' + chat.user),
              .estimated_tokens = estimate.total(),
              .reserved_micros = provider::cost_of(estimate, service.price)});
    if (!permit) {
      co_return std::unexpected(
          Outcome::held_up(permit.error().message, std::chrono::seconds(1)));
    }
    if (!permit->allowed) co_return std::unexpected(over_budget(service.provider, *permit));
    auto answer = co_await service.chat->chat(std::move(chat), job.context->token());
    if (!answer) {
      co_await end_paid_call(job, *permit, &answer.error(), {}, service.price);
      co_return std::unexpected(provider::to_outcome(answer.error(), service.provider));
    }
    const auto usage = answer->usage.reported ? answer->usage : estimate;
    co_await end_paid_call(
        job, *permit, nullptr,
        {.usage = usage, .finish = answer->finish, .response_id = answer->response_id},
        service.price);
    answers.model = answer->model;
    answers.tokens_in += usage.input;
    answers.tokens_out += usage.output;
    answers.cost_micros += provider::cost_of(usage, service.price);
    auto value = layout::clinical::parse_answer(answer->text);
    if (!value) {
      co_return std::unexpected(unusable_answer(value.error().message));
    }
    answers.values.push_back(*std::move(value));
  }
  co_return answers;
}

void note_answers(json::Object& meta, const ModelService& service, const PassAnswers& answers) {
  meta["provider"] = service.provider;
  meta["model"] = answers.model;
  meta["tokens_in"] = answers.tokens_in;
  meta["tokens_out"] = answers.tokens_out;
  meta["cost_micros"] = answers.cost_micros;
}

}  // namespace millrace::pipeline
