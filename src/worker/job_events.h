// What the log tells of one delivery (O-02): claim, then complete, abandon, deadletter or cancel.
//
// `abandon`: this attempt has ended and the job goes on. `deadletter`: it does not, unless somebody
// redrives it. Dead letters are told at level info, everything else at debug: a busy worker has too
// many. Lines hold ids and times, never payloads, results or words of errors.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "model/job.h"
#include "model/outcome.h"

#include <optional>
#include <string_view>
#include <vector>

namespace millrace::worker {

// When the database has the outcome.
struct SettledRun {
  const ClaimedJob& job;
  Outcome::Kind outcome = Outcome::Kind::ok;
  std::optional<Clock::Duration> ran = {};         // Nothing: its handler was never started.
  std::optional<Clock::Duration> persisting = {};  // From the end of the run to this answer.
};

void log_claimed(const Logger& log, const std::vector<ClaimedJob>& jobs);
void log_settled(const Logger& log, const SettledRun& run);

// The name of the line that log_settled writes, and whether it would.
std::string_view settled_event(const ClaimedJob& job, Outcome::Kind outcome);
bool is_told(const Logger& log, const ClaimedJob& job, Outcome::Kind outcome);

}  // namespace millrace::worker
