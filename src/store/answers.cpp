#include "store/answers.h"

#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kLeaseMaxMs = std::chrono::milliseconds(std::chrono::days(366)).count();

std::unexpected<Error> malformed(std::string_view member) {
  return fail(ErrorKind::internal, "the answer of beat_worker has no valid " + std::string(member));
}

// A member that may be missing, but must be a whole number from 0 to `max` when it is there.
Result<std::int64_t> whole_number(const json::Object& object, std::string_view name,
                                  std::int64_t max) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return 0;
  const auto* number = value->if_int64();
  if (number == nullptr || *number < 0 || *number > max) return malformed(name);
  return *number;
}

Result<std::string_view> text(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return malformed(name);
  return std::string_view(value->get_string());
}

Result<CancelRequest> read_cancel_request(const json::Value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return malformed("cancel");
  MR_TRY(const auto id, text(*object, "job_id"));
  MR_TRY(const auto token, text(*object, "token"));
  CancelRequest request;
  const auto job = JobId::parse(id);
  const auto lease = LeaseToken::parse(token);
  if (!job || !lease) return malformed("cancel");
  request.id = *job;
  request.token = *lease;
  const auto* reason = object->if_contains("reason");
  if (reason != nullptr && reason->is_string()) request.reason = reason->get_string();
  return request;
}

std::string text_or_empty(const pg::Row& row, const char* column) {
  return row.opt_text(column).value_or("");
}

}  // namespace

Result<BeatAnswer> read_beat_answer(std::string_view text) {
  auto object = parse_json_object(text, {.max_bytes = 16UL * 1024 * 1024});
  if (!object)
    return fail(ErrorKind::internal, "the answer of beat_worker: " + object.error().message);
  BeatAnswer answer;
  const auto* alive = object->if_contains("alive");
  answer.alive = alive != nullptr && *alive == true;
  MR_TRY(const auto lease_ms, whole_number(*object, "lease_ms", kLeaseMaxMs));
  MR_TRY(const auto suspects, whole_number(*object, "suspects", INT32_MAX));
  answer.lease = milliseconds(lease_ms);
  answer.suspects = static_cast<int>(suspects);
  const auto* limited = object->if_contains("limited");
  if (limited != nullptr && limited->is_array()) {
    auto& queues = answer.limited.emplace();
    for (const auto& queue : limited->get_array()) {
      if (!queue.is_string()) return malformed("limited");
      queues.emplace_back(queue.get_string());
    }
  }
  const auto* cancel = object->if_contains("cancel");
  if (cancel == nullptr || !cancel->is_array()) return answer;
  for (const auto& item : cancel->get_array()) {
    MR_TRY(auto request, read_cancel_request(item));
    answer.cancel.push_back(std::move(request));
  }
  return answer;
}

ClaimedJob read_claimed(const pg::Row& row, const std::string& queue) {
  ClaimedJob job;
  job.id = row.opt_id<JobId>("job_id").value_or(JobId{});
  job.token = row.id<LeaseToken>("token");
  job.tenant = row.id<TenantId>("tenant_id");
  job.queue = queue;
  job.job_type = row.text("job_type");
  job.payload_json = text_or_empty(row, "payload");
  job.priority = row.i32("priority");
  job.attempt = row.i32("attempt");
  job.max_attempts = row.i32("max_attempts");
  job.delivery_count = row.i32("delivery_count");
  job.generation = row.i32("generation");
  job.run_timeout = milliseconds(row.i64("run_timeout_ms"));
  job.lease = milliseconds(row.i64("lease_ms"));
  job.job_name = text_or_empty(row, "job_name");
  job.owner = row.opt_uuid("owner_id");
  job.correlation_id = text_or_empty(row, "correlation_id");
  job.traceparent = text_or_empty(row, "traceparent");
  job.pipeline = text_or_empty(row, "pipeline");
  job.stage = text_or_empty(row, "stage");
  job.batch = row.opt_uuid("batch_id");
  job.parent = row.opt_uuid("parent_id");
  job.serial_key = text_or_empty(row, "serial_key");
  job.carry_json = row.opt_text("carry");
  job.alone = row.boolean("alone");
  job.mark = text_or_empty(row, "mark");
  return job;
}

Result<void> read_answers(const pg::ResultSet& rows, AnswerMap& answers) {
  for (const auto row : rows) {
    MR_TRY(const auto answer, parse_answer(row.text("answer")));
    answers[row.id<JobId>("job_id")] = answer;
  }
  return ok();
}

}  // namespace millrace::store
