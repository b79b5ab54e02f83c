#include "client/convert.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::client {
namespace {

ErrorKind to_public(millrace::ErrorKind kind) {
  switch (kind) {
    case millrace::ErrorKind::invalid_argument:
      return ErrorKind::invalid_argument;
    case millrace::ErrorKind::not_found:
      return ErrorKind::not_found;
    case millrace::ErrorKind::conflict:
      return ErrorKind::conflict;
    case millrace::ErrorKind::lease_lost:
      return ErrorKind::lease_lost;
    case millrace::ErrorKind::throttled:
      return ErrorKind::throttled;
    case millrace::ErrorKind::unavailable:
      return ErrorKind::unavailable;
    case millrace::ErrorKind::cancelled:
      return ErrorKind::cancelled;
    case millrace::ErrorKind::in_doubt:
      return ErrorKind::in_doubt;
    case millrace::ErrorKind::internal:
      return ErrorKind::internal;
  }
  std::unreachable();
}

void put(json::Object& object, std::string_view key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

double seconds(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Error to_public(const millrace::Error& error) {
  return {.kind = to_public(error.kind), .message = error.message, .sqlstate = error.sqlstate};
}

std::unexpected<Error> fail_public(const millrace::Error& error) {
  return std::unexpected(to_public(error));
}

Result<json::Value> parse_payload(const JobSpec& job) {
  auto payload = parse_json(job.payload);
  if (payload) return std::move(*payload);
  return std::unexpected(Error{.kind = ErrorKind::invalid_argument,
                               .message = "payload: " + payload.error().message,
                               .sqlstate = "MR003"});
}

Result<json::Object> spec_to_json(const JobSpec& job) {
  auto payload = parse_payload(job);
  if (!payload) return std::unexpected(std::move(payload).error());
  json::Object spec;
  spec["job_type"] = job.job_type;
  spec["payload"] = std::move(*payload);
  put(spec, "queue", job.queue);
  put(spec, "job_name", job.job_name);
  put(spec, "dedupe_key", job.dedupe_key);
  put(spec, "serial_key", job.serial_key);
  put(spec, "concurrency_key", job.concurrency_key);
  put(spec, "idempotency_key", job.idempotency_key);
  put(spec, "id", job.id);
  put(spec, "correlation_id", job.correlation_id);
  put(spec, "batch_id", job.batch_id);
  if (job.priority) spec["priority"] = *job.priority;
  if (job.delay) spec["delay_seconds"] = seconds(*job.delay);
  if (job.max_attempts) spec["max_attempts"] = *job.max_attempts;
  if (job.run_timeout) spec["run_timeout_seconds"] = seconds(*job.run_timeout);
  if (!job.after_jobs.empty()) {
    json::Array ids;
    for (const auto& id : job.after_jobs) ids.emplace_back(id);
    spec["after"] = json::Object{{"jobs", std::move(ids)}};
  }
  return spec;
}

Result<json::Array> specs_to_json(const std::vector<JobSpec>& jobs) {
  json::Array specs;
  for (const auto& job : jobs) {
    auto spec = spec_to_json(job);
    if (!spec) return std::unexpected(spec.error());
    specs.emplace_back(std::move(*spec));
  }
  return specs;
}

Job to_public(const ClaimedJob& job) {
  return {.id = job.id.to_string(),
          .job_type = job.job_type,
          .queue = job.queue,
          .payload = job.payload_json,
          .tenant_id = job.tenant.to_string(),
          .correlation_id = job.correlation_id,
          .carry = job.carry_json.value_or(""),
          .attempt = job.attempt,
          .max_attempts = job.max_attempts,
          .delivery_count = job.delivery_count,
          .lease_token = job.token.to_string()};
}

millrace::Outcome to_engine(const Outcome& outcome) {
  const std::string type = outcome.error_type.empty() ? "handler" : outcome.error_type;
  millrace::Outcome made;
  switch (outcome.kind) {
    case Outcome::Kind::ok:
      made = millrace::Outcome::ok(outcome.result);
      break;
    case Outcome::Kind::retry:
      made = millrace::Outcome::retry(type, outcome.message, outcome.retry_after);
      break;
    case Outcome::Kind::throttled:
      made = millrace::Outcome::throttled(outcome.message, outcome.retry_after);
      break;
    case Outcome::Kind::blocked:
      made = millrace::Outcome::blocked(outcome.provider, outcome.message);
      break;
    case Outcome::Kind::permanent:
      made = millrace::Outcome::permanent(type, outcome.message);
      break;
    case Outcome::Kind::partial:
      made = millrace::Outcome::partial(outcome.parts, outcome.message);
      break;
    case Outcome::Kind::cancelled:
      made = millrace::Outcome::cancelled(outcome.message);
      break;
  }
  made.actual_tokens = outcome.actual_tokens;
  return made;
}

}  // namespace millrace::client
