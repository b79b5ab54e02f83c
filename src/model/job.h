// Jobs as plain values: the states they can be in, and a job as claim_jobs hands it out.
#pragma once

#include "base/result.h"
#include "base/uuid.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {

// Spelled like the labels of millrace.job_status.
enum class JobStatus { pending, processing, completed, failed, cancelled, retrying, deferred };

std::string_view to_string(JobStatus status);
Result<JobStatus> parse_job_status(std::string_view text);
bool is_final(JobStatus status);

// One delivery: the job's facts and the lease it is held by. Immutable once read.
struct ClaimedJob {
  JobId id;
  LeaseToken token;
  TenantId tenant;
  std::string queue;
  std::string job_type;
  std::string payload_json = "{}";
  int priority = 0;
  int attempt = 1;  // Number of this attempt, from 1.
  int max_attempts = 1;
  int delivery_count = 1;
  int generation = 1;
  std::chrono::milliseconds run_timeout{300'000};
  std::chrono::milliseconds lease{30'000};  // How long the job's own hard limit was at the claim.
  std::string job_name;
  std::string correlation_id;
  std::string traceparent;
  std::string pipeline;
  std::string stage;
  std::optional<Uuid> owner;
  std::optional<Uuid> batch;
  std::optional<Uuid> parent;
  std::string serial_key;
  std::optional<std::string> carry_json;  // What an earlier partial outcome kept.
  bool alone = false;                     // A suspect: nothing else may run beside it.
  std::string mark;                       // "type:tenant:priority:ready_seq".
};

}  // namespace millrace
