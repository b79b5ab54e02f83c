// The job as JSON: what an `exec:` handler reads on stdin and an `http:` handler gets as body.
#pragma once

#include "model/job.h"

#include <string>

namespace millrace {

// {job_id, job_type, queue, payload, attempt, max_attempts, delivery_count, generation, tenant_id,
// correlation_id, ...}; members without a value are left out.
std::string job_json(const ClaimedJob& job);

// The same for every delivery of one generation of the job, and for no other: what an outside
// service should use to recognise a repeated call.
std::string idempotency_key(const ClaimedJob& job);

}  // namespace millrace
