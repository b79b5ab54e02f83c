// Settlement: one finished delivery on its way into the database, and Answer: what the fence said.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "model/outcome.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// A line that a handler wrote, kept with the job.
struct JobLogLine {
  LogLevel level = LogLevel::info;
  std::string message;
  Clock::Wall at{};
};

// Progress that is told for itself, in its order.
struct JobStep {
  int percent = 0;
  std::string message;
  std::string data_json;
};

struct Settlement {
  JobId id;
  LeaseToken token;
  Outcome outcome;
  std::vector<JobLogLine> logs;     // Those not yet stored; written in the same transaction, first.
  std::vector<JobStep> steps = {};  // Likewise; only where it is settled with statements.

  // What it will roughly occupy on the wire, for bounding batches.
  std::size_t size_bytes() const;
};

// Spelled like the answers of the SQL functions. `cancelled`: the job was cancelled from elsewhere
// in the meantime, and this delivery's outcome was dropped.
enum class Answer {
  settled,
  already_settled,
  replaced,  // Settled as another outcome: its effects were refused, or it was told to stop.
  lease_lost,
  cancelled,
  not_found,
};

std::string_view to_string(Answer answer);
Result<Answer> parse_answer(std::string_view text);
// The delivery's outcome is in the database: now, or by an earlier call whose answer was lost.
bool is_durable(Answer answer);

struct JobAnswer {
  JobId id;
  Answer answer = Answer::not_found;
};

}  // namespace millrace
