// Calls that cost money: on record before they are sent, settled after, within the limits of the
// provider and the budget of the tenant for the day.
#pragma once

#include "pipeline/provider_room.h"
#include "pipeline/stage_job.h"
#include "provider/call.h"
#include "provider/price.h"

#include <cstdint>
#include <expected>
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
  json::Object capacity = {};  // Of take_room(): its tokens become those that the call took.
};

// Room and record. The outcome says why the call may not be made: the job waits, and nobody is
// charged. `first`: of the delivery.
awaitable<std::expected<PaidPermit, Outcome>> begin_paid_call(StageJob& job, PaidCall call,
                                                              bool first = true);
// Only the record, where the room was taken before.
awaitable<std::expected<PaidPermit, Outcome>> record_paid_call(StageJob& job, PaidCall call,
                                                               json::Object capacity);

struct CallEnd {
  provider::Usage usage = {};
  std::string finish = {};
  std::string response_id = {};
  provider::RateState rate = {};  // Of an answer; failures have their own.
  provider::Usage estimate = {};  // What the call was taken for, as the next one will be.
  json::Object capacity = {};
};

// As millrace.end_call takes it. No failure: the call was answered.
json::Object call_end(const provider::CallFailure* failure, CallEnd end, provider::Price price);

// What cannot be told to the database stays reserved: too careful, never too generous.
awaitable<void> end_paid_call(StageJob& job, Uuid call, json::Object end);

}  // namespace millrace::pipeline
