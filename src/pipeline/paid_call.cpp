#include "pipeline/paid_call.h"

#include "pipeline/steadily.h"
#include "provider/embeddings.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {
namespace {

// A raised budget is noticed within this; so is the next day.
constexpr std::chrono::minutes kBudgetPause{10};

json::Object intent(const StageJob& job, const PaidCall& call) {
  const auto& claimed = job.context->job();
  json::Object object;
  object["job_id"] = claimed.id.to_string();
  object["generation"] = claimed.generation;
  object["delivery_count"] = claimed.delivery_count;
  object["stage"] = claimed.job_type;
  object["provider"] = call.provider;
  object["model"] = call.model;
  object["request_sha256"] = call.request_sha256;
  object["estimated_tokens"] = call.estimated_tokens;
  object["reserved_micros"] = call.reserved_micros;
  return object;
}

// The job is parked until there is money; that says nothing of the provider.
Outcome over_budget(const std::string& provider, std::int64_t budget_micros) {
  auto outcome = Outcome::not_asked(Outcome::Kind::blocked, "over_budget",
                                    fmt::format("the budget of the day ({:.2f}) is used up",
                                                static_cast<double>(budget_micros) / 1e6),
                                    kBudgetPause);
  outcome.provider = provider;
  outcome.actual_tokens = 0;  // Nothing was sent.
  return outcome;
}

}  // namespace

awaitable<std::expected<PaidPermit, Outcome>> record_paid_call(StageJob& job, PaidCall call,
                                                               json::Object capacity) {
  const auto object = intent(job, call);
  Patience patience(job);
  for (;;) {
    const auto permit =
        co_await steadily(*job.context, [&] { return job.services.store.begin_call(object); });
    if (!permit) {
      co_return std::unexpected(Outcome::held_up(permit.error().message, std::chrono::seconds(1)));
    }
    if (permit->allowed) {
      co_return PaidPermit{.call = permit->call, .capacity = std::move(capacity)};
    }
    if (permit->retry <= std::chrono::milliseconds::zero()) {
      co_return std::unexpected(over_budget(call.provider, permit->budget_micros));
    }
    // Another call was told so since this job was claimed.
    auto ended = co_await patience.wait(permit->retry, "the provider asked to wait");
    if (ended) co_return std::unexpected(*std::move(ended));
  }
}

awaitable<std::expected<PaidPermit, Outcome>> begin_paid_call(StageJob& job, PaidCall call,
                                                              bool first) {
  auto room = co_await take_room(
      job, {.provider = call.provider, .tokens = call.estimated_tokens, .first = first});
  if (!room) co_return std::unexpected(std::move(room).error());
  co_return co_await record_paid_call(job, std::move(call), *std::move(room));
}

json::Object call_end(const provider::CallFailure* failure, CallEnd end, provider::Price price) {
  json::Object object;
  const auto usage = failure == nullptr ? end.usage : failure->usage.value_or(provider::Usage{});
  const bool unknown = failure != nullptr && failure->maybe_charged && !failure->usage;
  object["state"] = failure == nullptr ? "answered" : unknown ? "unknown" : "failed";
  if (!unknown) {
    const bool charged = failure == nullptr || failure->usage;
    object["cost_micros"] = charged ? provider::cost_of(usage, price) : 0;
    object["input_tokens"] = usage.input;
    object["output_tokens"] = usage.output;
    // Refused unread: none of the tokens that were taken for it is used up. Other refusals may
    // count at the service, and stay.
    const bool unread = failure != nullptr && failure->error_type == provider::kTooLarge;
    if (!end.capacity.empty() && (charged || unread)) object["capacity"] = std::move(end.capacity);
  }
  const auto hold = provider::hold_of(failure == nullptr ? end.rate : failure->rate, end.estimate);
  if (hold.count() > 0) object["hold_ms"] = hold.count();
  if (failure != nullptr) object["error"] = failure->error_type;
  object["finish"] = end.finish;
  object["response_id"] =
      storable_text(failure == nullptr ? end.response_id : failure->response_id, 200);
  return object;
}

awaitable<void> end_paid_call(StageJob& job, Uuid call, json::Object end) {
  auto told =
      co_await steadily(*job.context, [&] { return job.services.store.end_call(call, end); });
  if (!told) {
    job.services.log.warn("call_not_settled",
                          {{"call_id", call.to_string()}, {"error", told.error().message}});
  }
}

}  // namespace millrace::pipeline
