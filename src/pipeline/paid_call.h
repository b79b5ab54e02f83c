// Calls that cost money: on record before they are sent, settled after, within the budget of the
// tenant for the day.
#pragma once

#include "pipeline/stage_job.h"
#include "provider/call.h"
#include "provider/price.h"

#include <cstdint>
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

Task<store::DocumentStore::CallPermit> begin_paid_call(StageJob& job, PaidCall call);

// The outcome when the budget does not allow it: the job is parked, nobody is charged.
Outcome over_budget(std::string_view provider, const store::DocumentStore::CallPermit& permit);

struct CallEnd {
  provider::Usage usage = {};
  std::string finish = {};
  std::string response_id = {};
  json::Object capacity = {};  // Of take_capacity(): its tokens become those that the call took.
};

// As millrace.end_call takes it. No failure: the call was answered.
json::Object call_end(const provider::CallFailure* failure, CallEnd end, provider::Price price);

// What cannot be told to the database stays reserved: too careful, never too generous.
awaitable<void> end_paid_call(StageJob& job, store::DocumentStore::CallPermit permit,
                              const provider::CallFailure* failure, CallEnd end,
                              provider::Price price);

}  // namespace millrace::pipeline
