#include "pipeline/paid_call.h"

#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"
#include "provider/embeddings.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::pipeline {
namespace {

// A raised budget is noticed within this; so is the next day.
constexpr std::chrono::minutes kBudgetPause{10};

json::Object intent(const StageJob& job, Uuid id, const PaidCall& call, const CallRoom& room) {
  const auto& claimed = job.context->job();
  json::Object object;
  object["call_id"] = id.to_string();
  object["job_id"] = claimed.id.to_string();
  object["generation"] = claimed.generation;
  object["delivery_count"] = claimed.delivery_count;
  object["stage"] = claimed.job_type;
  object["provider"] = call.provider;
  object["model"] = call.model;
  object["request_sha256"] = call.request_sha256;
  object["estimated_tokens"] = call.estimated_tokens;
  object["reserved_micros"] = call.reserved_micros;
  // The first is the one that the claim counted, if it did: who knows is the database.
  object["room"] = json::Object{{"token", claimed.token.to_string()},
                                {"requests", room.first ? 0 : 1},
                                {"claimed_tokens", room.first && room.claimed_tokens}};
  return object;
}

PaidPermit permit_of(store::DocumentStore::CallPermit allowed) {
  PaidPermit permit{.call = allowed.call, .capacity = std::move(allowed.capacity)};
  if (const auto* claimed = permit.capacity.if_contains("claimed")) {
    permit.claimed_tokens = claimed->to_number<std::uint64_t>();
  }
  return permit;
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

awaitable<std::expected<PaidPermit, Outcome>> begin_paid_call(StageJob& job, PaidCall call,
                                                              CallRoom room) {
  Patience patience(job);
  // However often it is said, because the answer was lost: it is one call, and taken once.
  auto id = job.services.random.uuid();
  for (;;) {
    const auto object = intent(job, id, call, room);
    auto permit =
        co_await steadily(*job.context, [&] { return job.services.store.begin_call(object); });
    if (!permit) {
      co_return std::unexpected(Outcome::held_up(permit.error().message, std::chrono::seconds(1)));
    }
    if (permit->allowed) {
      job.context->set_asked(true);
      co_return permit_of(*std::move(permit));
    }
    if (permit->retry <= std::chrono::milliseconds::zero()) {
      co_return std::unexpected(over_budget(call.provider, permit->budget_micros));
    }
    const auto left = std::max<std::int64_t>(permit->tokens_room.value_or(0), 0);
    if (room.fewer && left > 0 && std::cmp_less(left, call.estimated_tokens)) {
      if (auto fewer = co_await room.fewer(static_cast<std::uint64_t>(left))) {
        call = *std::move(fewer);
        id = job.services.random.uuid();
        continue;
      }
    }
    // Else another call was told so since this job was claimed.
    auto ended = co_await patience.wait(permit->retry, permit->tokens_room
                                                           ? "no room at the provider's limits"
                                                           : "the provider asked to wait");
    if (ended) co_return std::unexpected(*std::move(ended));
  }
}

Outcome failed_call(const provider::CallFailure& failure, std::string_view provider,
                    const PaidPermit* permit, const provider::Usage& asked) {
  auto outcome = provider::to_outcome(failure, provider, asked);
  if (outcome.actual_tokens && permit != nullptr && permit->claimed_tokens) {
    outcome.actual_tokens =
        std::min(*outcome.actual_tokens, static_cast<std::int64_t>(*permit->claimed_tokens));
  }
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

awaitable<std::optional<Outcome>> keep_paid_answer(StageJob& job, store::PaidAnswer paid,
                                                   json::Object end) {
  if (!paid.refused.empty()) end["error"] = paid.refused;
  auto kept = co_await steadily(*job.context, [&] {
    return job.services.store.keep_answer(job.held(), paid.call, end, paid);
  });
  if (kept) co_return std::nullopt;
  co_await end_paid_call(job, paid.call, std::move(end));
  co_return outcome_of(kept.error(), "answer");
}

store::PaidAnswer refused_answer(store::PaidAnswer paid, std::string reason) {
  paid.refused = "invalid_answer";
  paid.reason = std::move(reason);
  paid.text = storable_text(paid.text, kRefusedBytesMax);
  return paid;
}

UnusableAnswer unusable_answer(const StageJob& job, const store::PaidAnswer& paid) {
  json::Object review;
  review["stage"] = job.stage->name;
  review["error_type"] = paid.refused;
  review["reason"] = storable_text(paid.reason, 1'000);
  review["model"] = storable_text(paid.model, 200);
  review["call_id"] = paid.call.to_string();
  review["response_id"] = storable_text(paid.response_id, 200);
  review["answer_sha256"] = sha256_hex(paid.text);
  auto outcome = Outcome::permanent(paid.refused, paid.reason);
  outcome.error_json.pop_back();
  outcome.error_json += ",\"review\":" + to_json(review) + "}";
  return {.outcome = std::move(outcome), .review = std::move(review)};
}

}  // namespace millrace::pipeline
