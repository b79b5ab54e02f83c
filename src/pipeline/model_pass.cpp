#include "pipeline/model_pass.h"

#include "base/either.h"
#include "layout/clinical/pass_schema.h"
#include "pipeline/paid_call.h"
#include "pipeline/steadily.h"

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

// As limits and budgets name what is asked.
std::string limited_name(const ModelService& service, std::string_view model) {
  return fmt::format("{}:{}", service.provider.substr(0, service.provider.find(':')), model);
}

// Room at the provider's limits for one request more than the claim took (L-04). Answers that are
// paid for are at stake, so the job waits in its slot for as long as the windows of most providers
// last; the time limit of the stage goes on.
awaitable<std::expected<json::Object, Outcome>> further_room(StageJob& job, std::uint64_t tokens) {
  using namespace either;
  constexpr std::chrono::milliseconds kWaitMax = std::chrono::seconds(65);
  constexpr std::chrono::milliseconds kLeast{50};
  auto waited = std::chrono::milliseconds::zero();
  for (;;) {
    auto grant = co_await steadily(*job.context, [&] {
      return job.services.ingest->take_capacity(
          {.job = job.id(), .token = job.context->job().token}, 1, tokens);
    });
    if (!grant) {
      co_return std::unexpected(Outcome::held_up(grant.error().message, std::chrono::seconds(1)));
    }
    if (grant->granted) co_return std::move(grant->capacity);
    const auto pause = std::max(grant->retry, kLeast);
    waited += pause;
    if (waited > kWaitMax) {
      co_return std::unexpected(Outcome::held_up("no room at the provider's limits", pause));
    }
    co_await (job.context->clock().sleep_for(pause) || job.context->token().wait());
    if (job.context->cancelled()) {
      co_return std::unexpected(Outcome::cancelled(job.context->cancel_reason()));
    }
  }
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
    const auto provider = limited_name(service, chat.model);
    const auto estimate = provider::estimate_usage(chat);
    json::Object capacity;
    if (number > 1) {
      auto room = co_await further_room(job, estimate.total());
      if (!room) co_return std::unexpected(std::move(room).error());
      capacity = *std::move(room);
    }
    auto permit = co_await begin_paid_call(
        job, {.provider = provider,
              .model = chat.model,
              .request_sha256 = sha256_hex(chat.system + '\n' + chat.user),
              .estimated_tokens = estimate.total(),
              .reserved_micros = provider::cost_of(estimate, service.price)});
    if (!permit) {
      co_return std::unexpected(Outcome::held_up(permit.error().message, std::chrono::seconds(1)));
    }
    if (!permit->allowed) co_return std::unexpected(over_budget(provider, *permit));
    auto answer = co_await service.chat->chat(std::move(chat), job.context->token());
    if (!answer) {
      co_await end_paid_call(job, *permit, &answer.error(), {}, service.price);
      co_return std::unexpected(provider::to_outcome(answer.error(), provider));
    }
    const auto usage = answer->usage.reported ? answer->usage : estimate;
    co_await end_paid_call(job, *permit, nullptr,
                           {.usage = usage,
                            .finish = answer->finish,
                            .response_id = answer->response_id,
                            .capacity = std::move(capacity)},
                           service.price);
    if (number == 1) answers.tokens_of_claim = usage.total();
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
  if (answers.values.size() > 1) meta["tokens_of_claim"] = answers.tokens_of_claim;
  meta["cost_micros"] = answers.cost_micros;
}

}  // namespace millrace::pipeline
