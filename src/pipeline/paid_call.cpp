#include "pipeline/paid_call.h"

#include "pipeline/steadily.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {
namespace {

// A raised budget is noticed within this; so is the next day.
constexpr std::chrono::minutes kBudgetPause{10};

}  // namespace

Task<store::DocumentStore::CallPermit> begin_paid_call(StageJob& job, PaidCall call) {
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
  co_return co_await steadily(*job.context, [&] { return job.services.store.begin_call(object); });
}

Outcome over_budget(std::string_view provider, const store::DocumentStore::CallPermit& permit) {
  const auto message = fmt::format("the budget of the day ({:.2f}) is used up",
                                   static_cast<double>(permit.budget_micros) / 1e6);
  auto outcome = Outcome::blocked(provider, message);
  // By this word the provider's breaker knows that it is not meant.
  outcome.error_json = error_json("over_budget", message);
  outcome.retry_after = kBudgetPause;
  outcome.actual_tokens = 0;  // Nothing was sent.
  return outcome;
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
    if (!end.capacity.empty()) object["capacity"] = std::move(end.capacity);
  }
  if (failure != nullptr) object["error"] = failure->error_type;
  object["finish"] = end.finish;
  object["response_id"] =
      storable_text(failure == nullptr ? end.response_id : failure->response_id, 200);
  return object;
}

awaitable<void> end_paid_call(StageJob& job, store::DocumentStore::CallPermit permit,
                              const provider::CallFailure* failure, CallEnd end,
                              provider::Price price) {
  const auto object = call_end(failure, std::move(end), price);
  auto told = co_await steadily(*job.context,
                                [&] { return job.services.store.end_call(permit.call, object); });
  if (!told) {
    job.services.log.warn("call_not_settled",
                          {{"call_id", permit.call.to_string()}, {"error", told.error().message}});
  }
}

}  // namespace millrace::pipeline
