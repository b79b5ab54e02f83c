// RunWatch: whoever wants to know of every run: metrics, traces.
//
// Called on the runtime's executor, once before a handler starts and once when it has returned or
// nobody waits for it any more; between the two other runs may begin and end. What it does is paid
// by every job, so it must be short and must not wait or throw.
#pragma once

#include "base/clock.h"
#include "model/job.h"
#include "model/outcome.h"
#include "model/settlement.h"

#include <optional>
#include <string>

namespace millrace::worker {

struct RunEnd {
  const ClaimedJob& job;
  const Outcome* outcome = nullptr;  // Null: the lease was lost, so it counts for nothing.
  Clock::Duration took{};
  const std::optional<std::string>& came_with;  // The traceparent that begin_run replaced.
};

class RunWatch {
 public:
  virtual ~RunWatch() = default;

  // The traceparent under which the handler runs and which it sends on; nothing: the job's own.
  virtual std::optional<std::string> begin_run(const ClaimedJob& job) = 0;
  virtual void end_run(const RunEnd& end) = 0;
  // What the fence said to an outcome, hand-backs included.
  virtual void settled(Answer answer) = 0;
};

}  // namespace millrace::worker
