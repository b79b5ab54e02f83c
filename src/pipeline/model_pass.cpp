#include "pipeline/model_pass.h"

#include "base/fault.h"
#include "layout/clinical/pass_schema.h"
#include "pipeline/paid_call.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"
#include "provider/embeddings.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::pipeline {
namespace {

using layout::clinical::PassRequest;
using provider::CallFailure;

// Requests are halved down to this: what is too large then will be in any form.
constexpr std::size_t kInputBytesMin = std::size_t{6} * 1024;

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
  return fmt::format("{}:{}", service.provider, model);
}

// Of all that the answer depends on.
std::string question_sha256(std::string_view provider, const provider::ChatRequest& chat) {
  std::string all;
  for (const std::string_view part :
       {provider, std::string_view(chat.system), std::string_view(chat.user),
        std::string_view(chat.schema_name)}) {
    all += fmt::format("{}:{}", part.size(), part);
  }
  all += to_json(chat.schema) + std::to_string(chat.max_output_tokens);
  return sha256_hex(all);
}

// Of what a question says, and asked again it would be refused again; refusals of keys, names and
// forms are not: those are mended, and then the same question will do.
bool is_about_content(const CallFailure& failure) {
  return failure.kind == CallFailure::Kind::permanent && failure.status != 0 &&
         (failure.error_type == provider::kTooLarge || failure.error_type == "content_filter");
}

// One run of a pass within a delivery.
class Asking {
 public:
  Asking(StageJob& job, const ModelService& service, PassQuestions questions)
      : job_(job), service_(service), questions_(std::move(questions)) {}

  awaitable<std::expected<PassAnswers, PassEnd>> run() {
    auto requests = questions_.make(options_);
    if (!requests) {
      co_return std::unexpected(PassEnd{
          .outcome = Outcome::permanent(questions_.cannot_be_made, requests.error().message)});
    }
    begin(*std::move(requests));
    if (requests_.empty()) co_return std::move(answers_);
    const auto& claimed = job_.context->job();
    auto kept = co_await steadily(*job_.context, [&] {
      return job_.services.store.kept_answers(claimed.id, claimed.generation);
    });
    if (!kept) co_return std::unexpected(PassEnd{.outcome = outcome_of(kept.error(), "answers")});
    for (auto& one : *kept) {
      auto question = one.question_sha256;
      kept_.emplace(std::move(question), std::move(one));
    }
    // Goes on when requests become smaller ones: a key is of one question only.
    std::size_t number = 0;
    while (next_ < requests_.size()) {
      auto ended = co_await answer_to(chat_request(job_, service_, requests_[next_++], number++));
      if (!ended) continue;
      // The claim took the room of one call: this is what the first one used of it.
      if (first_done_) ended->outcome.actual_tokens = answers_.tokens_of_claim;
      co_return std::unexpected(*std::move(ended));
    }
    co_return std::move(answers_);
  }

 private:
  using Ended = std::optional<PassEnd>;

  void begin(std::vector<PassRequest> requests) {
    requests_ = std::move(requests);
    next_ = 0;
    questions_.begin();
  }

  // All anew, in requests without the one that was just asked. False: there are none so small.
  bool ask_smaller() {
    auto options = options_;
    const auto& refused = requests_[next_ - 1].input;
    for (;;) {
      options.input_bytes_max /= 2;
      if (options.input_bytes_max < kInputBytesMin) return false;
      auto requests = questions_.make(options);
      if (!requests) return false;
      if (std::ranges::find(*requests, refused, &PassRequest::input) != requests->end()) continue;
      options_ = options;
      begin(*std::move(requests));
      return true;
    }
  }

  // Nothing: it was taken, or there are smaller requests to go on with.
  awaitable<Ended> answer_to(provider::ChatRequest chat) {
    const auto provider = limited_name(service_, chat.model);
    const auto question = question_sha256(provider, chat);
    if (const auto found = kept_.find(question); found != kept_.end()) {
      const auto& answer = found->second;
      if (answer.refused == provider::kTooLarge && ask_smaller()) {
        add(answer);
        co_return std::nullopt;
      }
      if (!answer.refused.empty()) co_return unusable(answer);
      if (!read(answer.text)) {
        add(answer);
        co_return std::nullopt;
      }
      // Whoever kept it could use it, an older or newer program: it is asked for anew.
    }
    const auto* price = service_.prices.find(chat.model);
    if (price == nullptr) {
      co_return PassEnd{.outcome = Outcome::not_here(
                            provider, fmt::format("{} has no price on this worker", provider))};
    }
    const auto estimate = provider::estimate_usage(chat);
    auto permit = co_await begin_paid_call(job_,
                                           {.provider = provider,
                                            .model = chat.model,
                                            .request_sha256 = question,
                                            .estimated_tokens = estimate.total(),
                                            .reserved_micros = provider::cost_of(estimate, *price)},
                                           {.first = !first_done_});
    if (!permit) {
      auto outcome = std::move(permit).error();
      outcome.actual_tokens = 0;  // Nothing was sent.
      co_return PassEnd{.outcome = std::move(outcome)};
    }
    auto answer = co_await service_.chat->chat(std::move(chat), job_.context->token());
    MR_FAULT("pass.answered");
    if (!answer) {
      co_return co_await failed({.provider = provider, .question = question, .estimate = estimate},
                                *std::move(permit), std::move(answer).error(), *price);
    }
    co_return co_await answered({.provider = provider, .question = question, .estimate = estimate},
                                *std::move(permit), *std::move(answer), *price);
  }

  struct Asked {
    std::string provider;
    std::string question;
    provider::Usage estimate;
  };

  awaitable<Ended> answered(Asked asked, PaidPermit permit, provider::ChatAnswer answer,
                            provider::Price price) {
    const auto usage = answer.usage.reported ? answer.usage : asked.estimate;
    price = service_.prices.of_answer(answer.model, price);
    store::PaidAnswer paid{.question_sha256 = std::move(asked.question),
                           .model = answer.model,
                           .response_id = answer.response_id,
                           .text = std::move(answer.text),
                           .call = permit.call,
                           .tokens_in = static_cast<std::int64_t>(usage.input),
                           .tokens_out = static_cast<std::int64_t>(usage.output),
                           .cost_micros = provider::cost_of(usage, price)};
    if (auto wrong = read(paid.text)) paid = refused_answer(std::move(paid), *std::move(wrong));
    auto end = call_end(nullptr,
                        {.usage = usage,
                         .finish = std::move(answer.finish),
                         .response_id = std::move(answer.response_id),
                         .rate = answer.rate,
                         .estimate = asked.estimate,
                         .capacity = std::move(permit.capacity)},
                        price);
    note_first(usage, permit.claimed_tokens);
    if (auto ended = co_await keep(paid, std::move(end))) co_return ended;
    if (!paid.refused.empty()) co_return unusable(paid);
    add(paid);
    co_return std::nullopt;
  }

  awaitable<Ended> failed(Asked asked, PaidPermit permit, CallFailure failure,
                          provider::Price price) {
    auto end = call_end(
        &failure, {.estimate = asked.estimate, .capacity = std::move(permit.capacity)}, price);
    // It came whole, was paid for, and is none that can be used: another would be as dear.
    const bool came = failure.kind == CallFailure::Kind::permanent && failure.status == 200;
    const bool too_large =
        failure.kind == CallFailure::Kind::permanent && failure.error_type == provider::kTooLarge;
    const bool goes_on = too_large && ask_smaller();
    if (goes_on && !came) {
      note_first({}, permit.claimed_tokens);  // Refused unread.
      co_await end_paid_call(job_, permit.call, std::move(end));
      co_return std::nullopt;
    }
    if (!came && !is_about_content(failure)) {
      co_await end_paid_call(job_, permit.call, std::move(end));
      co_return PassEnd{.outcome = failed_call(failure, asked.provider, &permit, asked.estimate)};
    }
    const bool unread = too_large && !came;
    const auto usage = failure.usage.value_or(unread ? provider::Usage{} : asked.estimate);
    note_first(usage, permit.claimed_tokens);
    const bool charged = failure.usage.has_value();
    const store::PaidAnswer paid{
        .question_sha256 = std::move(asked.question),
        .model = asked.provider.substr(asked.provider.find(':') + 1),
        .response_id = failure.response_id,
        .text = {},
        .refused = failure.error_type,
        .reason = failure.message,
        .call = permit.call,
        .tokens_in = charged ? static_cast<std::int64_t>(usage.input) : 0,
        .tokens_out = charged ? static_cast<std::int64_t>(usage.output) : 0,
        .cost_micros = charged ? provider::cost_of(usage, price) : 0};
    if (auto ended = co_await keep(paid, std::move(end))) co_return ended;
    if (!goes_on) co_return unusable(paid);
    add(paid);
    co_return std::nullopt;
  }

  awaitable<Ended> keep(store::PaidAnswer paid, json::Object end) {
    auto ended = co_await keep_paid_answer(job_, std::move(paid), std::move(end));
    if (!ended) co_return std::nullopt;
    co_return PassEnd{.outcome = *std::move(ended)};
  }

  // What is wrong with it; nothing: it is taken.
  std::optional<std::string> read(std::string_view text) const {
    const auto value = layout::clinical::parse_answer(text);
    if (!value) return value.error().message;
    const auto taken = questions_.take(*value);
    return taken ? std::nullopt : std::optional(taken.error().message);
  }

  PassEnd unusable(const store::PaidAnswer& paid) const {
    auto ended = unusable_answer(job_, paid);
    return {.outcome = std::move(ended.outcome), .review = std::move(ended.review)};
  }

  // What it took beyond the claim is settled with the call.
  void note_first(const provider::Usage& usage, std::optional<std::uint64_t> claimed) {
    if (std::exchange(first_done_, true)) return;
    answers_.tokens_of_claim = std::min(usage.total(), claimed.value_or(usage.total()));
  }

  void add(const store::PaidAnswer& paid) {
    answers_.model = paid.model;
    answers_.tokens_in += static_cast<std::uint64_t>(paid.tokens_in);
    answers_.tokens_out += static_cast<std::uint64_t>(paid.tokens_out);
    answers_.cost_micros += paid.cost_micros;
  }

  StageJob& job_;
  const ModelService& service_;
  PassQuestions questions_;
  layout::clinical::PromptOptions options_;
  std::vector<PassRequest> requests_;
  std::size_t next_ = 0;
  std::map<std::string, store::PaidAnswer, std::less<>> kept_;  // By question.
  PassAnswers answers_;
  bool first_done_ = false;  // The call that the claim took the room for was made.
};

}  // namespace

std::expected<const ModelService*, Outcome> model_of(const StageJob& job) {
  const auto& name = job.stage->provider;
  if (name == kLocalProvider || name == kNoProvider) return nullptr;
  const auto found = job.services.models.find(name);
  if (found == job.services.models.end()) {
    return std::unexpected(
        Outcome::not_here(name, fmt::format("provider {} is not configured on this worker", name)));
  }
  if (job.option("model", found->second.model).empty()) {
    return std::unexpected(Outcome::not_here(name, no_model(name)));
  }
  return &found->second;
}

std::string no_model(std::string_view provider) {
  return fmt::format("no model is named: set {}.model", provider);
}

std::string asked_name(const StageJob& job, const ModelService& service) {
  return limited_name(service, job.option("model", service.model));
}

awaitable<std::expected<PassAnswers, PassEnd>> ask_model(StageJob& job, const ModelService& service,
                                                         PassQuestions questions) {
  Asking asking(job, service, std::move(questions));
  co_return co_await asking.run();
}

void note_answers(json::Object& meta, std::string provider, const PassAnswers& answers) {
  meta["provider"] = std::move(provider);
  meta["model"] = answers.model;
  meta["tokens_in"] = answers.tokens_in;
  meta["tokens_out"] = answers.tokens_out;
  if (answers.tokens_of_claim != answers.tokens_in + answers.tokens_out) {
    meta["tokens_of_claim"] = answers.tokens_of_claim;
  }
  meta["cost_micros"] = answers.cost_micros;
}

}  // namespace millrace::pipeline
