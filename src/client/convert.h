// Between the public types (std only) and the engine's own.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "model/job.h"
#include "model/outcome.h"

#include <millrace/error.h>
#include <millrace/job.h>

namespace millrace::client {

Error to_public(const millrace::Error& error);
std::unexpected<Error> fail_public(const millrace::Error& error);

// Refuses a payload that is no JSON.
Result<json::Value> parse_payload(const JobSpec& job);
// The job as millrace.enqueue_jobs takes it; refuses a payload that is no JSON.
Result<json::Object> spec_to_json(const JobSpec& job);
Result<json::Array> specs_to_json(const std::vector<JobSpec>& jobs);

Job to_public(const ClaimedJob& job);
millrace::Outcome to_engine(const Outcome& outcome);

}  // namespace millrace::client
