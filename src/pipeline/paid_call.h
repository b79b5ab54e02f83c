// Calls that cost money: on record before they are sent, settled after, within the limits of the
// provider and the budget of the tenant for the day.
#pragma once

#include "pipeline/provider_room.h"
#include "pipeline/stage_job.h"
#include "provider/call.h"
#include "provider/price.h"
#include "store/document_store.h"

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::pipeline {

struct PaidCall {
  std::string provider;  // "openai:gpt-4o-mini"
  std::string model;
  std::string request_sha256;
  std::uint64_t estimated_tokens = 0;
  std::int64_t reserved_micros = 0;
};

struct PaidPermit {
  Uuid call;
  json::Object capacity = {};  // Its tokens become those that the call took (millrace.end_call).
  // Of the call's tokens so many at most were taken by the claim, and are settled with the job.
  // Nothing: all of them.
  std::optional<std::uint64_t> claimed_tokens = {};
};

// What the claim of the job took counts where it took it at the call's provider.
struct CallRoom {
  bool first = true;           // Of the delivery.
  bool claimed_tokens = true;  // The claim took an estimate for the first call, too.
  // The call to make instead where only so many tokens are left; nothing: none would do. Empty:
  // always the same.
  std::function<awaitable<std::optional<PaidCall>>(std::uint64_t left)> fewer = {};
};

// Room at the limits of the provider and the record, both or neither: what the budget refuses takes
// nothing from those who share the limits. The outcome says why the call may not be made: the job
// waits, and nobody is charged.
awaitable<std::expected<PaidPermit, Outcome>> begin_paid_call(StageJob& job, PaidCall call,
                                                              CallRoom room = {});

struct CallEnd {
  provider::Usage usage = {};
  std::string finish = {};
  std::string response_id = {};
  provider::RateState rate = {};  // Of an answer; failures have their own.
  provider::Usage estimate = {};  // What the call was taken for, as the next one will be.
  json::Object capacity = {};
};

// How the delivery ends with a call that failed. Of its tokens the job settles what the claim took
// for it: the others were settled with the call. No permit: it cost none.
Outcome failed_call(const provider::CallFailure& failure, std::string_view provider,
                    const PaidPermit* permit, const provider::Usage& asked = {});

// As millrace.end_call takes it. No failure: the call was answered.
json::Object call_end(const provider::CallFailure* failure, CallEnd end, provider::Price price);

// What cannot be told to the database stays reserved: too careful, never too generous.
awaitable<void> end_paid_call(StageJob& job, Uuid call, json::Object end);

// Of an answer that cannot be used so much is kept, as evidence.
inline constexpr std::size_t kRefusedBytesMax = std::size_t{256} * 1024;

// The answer with the end of its call, or neither. The money is spent whoever may keep the answer:
// an outcome says why it is not kept.
awaitable<std::optional<Outcome>> keep_paid_answer(StageJob& job, store::PaidAnswer paid,
                                                   json::Object end);
// As it is kept where it cannot be used.
store::PaidAnswer refused_answer(store::PaidAnswer paid, std::string reason);

// How a stage ends of whose answers one cannot be used: for good, and a person finds it.
struct UnusableAnswer {
  Outcome outcome;
  json::Object review = {};
};
UnusableAnswer unusable_answer(const StageJob& job, const store::PaidAnswer& paid);

}  // namespace millrace::pipeline
