#include "client/pending_call.h"

#include "client/convert.h"

#include <utility>

namespace millrace::client {
namespace {

// What JSON has to write differently (quotes, bytes that are no UTF-8) goes as JSON, and is refused
// there as it is everywhere.
bool is_simple(const std::string& name) { return json_quote(name).size() == name.size() + 2; }

bool is_plain(const JobSpec& job) {
  return is_simple(job.job_type) && is_simple(job.queue) && job.job_name.empty() && !job.delay &&
         job.dedupe_key.empty() && job.serial_key.empty() && job.concurrency_key.empty() &&
         job.idempotency_key.empty() && job.id.empty() && job.correlation_id.empty() &&
         job.batch_id.empty() && job.after_jobs.empty() && !job.max_attempts && !job.run_timeout;
}

// Version 7, as the database makes them: ids of one time lie in one partition.
JobId new_job_id(const Clock& clock, Random& random) {
  auto uuid = random.uuid();
  const auto time = std::chrono::floor<std::chrono::milliseconds>(clock.wall().time_since_epoch());
  for (std::size_t i = 0; i < 6; ++i) {
    uuid.bytes[i] = static_cast<std::uint8_t>(time.count() >> (40 - 8 * i));
  }
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0fU) | 0x70U);
  return JobId{uuid};
}

Result<MadeCall> make_plain(JobSpec job) {
  if (const auto parsed = parse_payload(job); !parsed) return std::unexpected(parsed.error());
  MadeCall made;
  made.key.kind = {.plain = true,
                   .job_type = std::move(job.job_type),
                   .queue = std::move(job.queue),
                   .priority = job.priority};
  made.call.payload = std::move(job.payload);
  made.call.size_bytes = made.call.payload.size();
  return made;
}

Result<MadeCall> make_keyed(const JobSpec& job, const Clock& clock, Random& random) {
  auto spec = spec_to_json(job);
  if (!spec) return std::unexpected(std::move(spec).error());
  MadeCall made;
  made.call.spec = std::move(*spec);
  made.call.size_bytes = job.payload.size() + 256;  // The rest of the spec, more or less.
  made.call.repeatable = !job.id.empty() || !job.idempotency_key.empty() || !job.dedupe_key.empty();
  if (!job.dedupe_key.empty() && job.id.empty() && job.idempotency_key.empty()) {
    // A dedupe key is free again when its job has ended, which may be before we can send again.
    made.call.own_id = new_job_id(clock, random);
    made.call.spec["id"] = made.call.own_id->to_string();
  }
  return made;
}

}  // namespace

Reply::Reply(Reply&& other) noexcept
    : promise_(std::move(other.promise_)), open_(std::exchange(other.open_, false)) {}

Reply::~Reply() {
  // A message this short needs no memory, of which there may be none.
  if (open_) set(std::unexpected(Error{ErrorKind::in_doubt, "not known", {}}));
}

void Reply::set(CallAnswer answer) noexcept {
  if (!std::exchange(open_, false)) return;
  promise_.set_value(std::move(answer));
}

Result<MadeCall> make_call(JobSpec job, const Clock& clock, Random& random) {
  return is_plain(job) ? make_plain(std::move(job)) : make_keyed(job, clock, random);
}

}  // namespace millrace::client
