#include "worker/job_events.h"

#include <utility>

namespace millrace::worker {
namespace {

constexpr std::string_view kDeadLetter = "deadletter";

LogLevel level_of(std::string_view event) {
  return event == kDeadLetter ? LogLevel::info : LogLevel::debug;
}

std::vector<LogField> fields_of(const ClaimedJob& job) {
  return {{"job_id", job.id},
          {"job_type", job.job_type},
          {"queue", job.queue},
          {"tenant_id", job.tenant},
          {"cid", job.correlation_id},
          {"attempt", job.attempt},
          {"delivery", job.delivery_count}};
}

}  // namespace

// No default: a new outcome does not compile until it has its line.
std::string_view settled_event(const ClaimedJob& job, Outcome::Kind outcome) {
  using Kind = Outcome::Kind;
  switch (outcome) {
    case Kind::ok:
      return "complete";
    case Kind::permanent:
      return kDeadLetter;
    case Kind::retry:
      return job.attempt >= job.max_attempts ? kDeadLetter : "abandon";
    case Kind::throttled:
    case Kind::blocked:
    case Kind::partial:
    case Kind::rescheduled:
    case Kind::handback:
      return "abandon";
    case Kind::cancelled:
      return "cancel";
  }
  std::unreachable();
}

void log_claimed(const Logger& log, const std::vector<ClaimedJob>& jobs) {
  if (!log.enabled(LogLevel::debug)) return;
  for (const auto& job : jobs) log.log(LogLevel::debug, "claim", fields_of(job));
}

bool is_told(const Logger& log, const ClaimedJob& job, Outcome::Kind outcome) {
  return log.enabled(level_of(settled_event(job, outcome)));
}

void log_settled(const Logger& log, const SettledRun& run) {
  const auto event = settled_event(run.job, run.outcome);
  auto fields = fields_of(run.job);
  fields.push_back({"outcome", to_string(run.outcome)});
  if (run.ran) fields.push_back({"ms", *run.ran});
  if (run.persisting) fields.push_back({"persist_ms", *run.persisting});
  log.log(level_of(event), event, fields);
}

}  // namespace millrace::worker
