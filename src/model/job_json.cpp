#include "model/job_json.h"

#include "base/json.h"

#include <fmt/format.h>

#include <iterator>

namespace millrace {
namespace {

void add_text(std::string& out, std::string_view name, const std::string& value) {
  if (!value.empty())
    fmt::format_to(std::back_inserter(out), ",\"{}\":{}", name, json_quote(value));
}

void add_id(std::string& out, std::string_view name, const std::optional<Uuid>& value) {
  if (value) fmt::format_to(std::back_inserter(out), ",\"{}\":\"{}\"", name, *value);
}

}  // namespace

std::string job_json(const ClaimedJob& job) {
  std::string out = fmt::format(
      R"({{"job_id":"{}","job_type":{},"queue":{},"tenant_id":"{}","attempt":{},"max_attempts":{},)"
      R"("delivery_count":{},"generation":{},"priority":{},"run_timeout_ms":{})",
      job.id, json_quote(job.job_type), json_quote(job.queue), job.tenant, job.attempt,
      job.max_attempts, job.delivery_count, job.generation, job.priority, job.run_timeout.count());
  add_text(out, "job_name", job.job_name);
  add_text(out, "correlation_id", job.correlation_id);
  add_text(out, "traceparent", job.traceparent);
  add_text(out, "pipeline", job.pipeline);
  add_text(out, "stage", job.stage);
  add_text(out, "serial_key", job.serial_key);
  add_id(out, "owner_id", job.owner);
  add_id(out, "batch_id", job.batch);
  add_id(out, "parent_id", job.parent);
  if (job.carry_json) out += ",\"carry\":" + *job.carry_json;
  out += ",\"payload\":" + job.payload_json + "}";
  return out;
}

std::string idempotency_key(const ClaimedJob& job) {
  return fmt::format("{}:{}", job.id, job.generation);
}

}  // namespace millrace
