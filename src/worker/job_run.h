// JobRun: one delivery while this process holds it, from the claim to the answer of the fence.
//
// Owned by shared_ptr because a handler that ignores its token may outlive everything else. The
// fields belong to the runtime's executor; `output` and `cancel` are thread-safe.
#pragma once

#include "base/cancel.h"
#include "base/event.h"
#include "model/job.h"
#include "worker/job_context.h"
#include "worker/job_output.h"

#include <memory>
#include <optional>
#include <string>

namespace millrace::worker {

// Why a handler was told to stop; the first cause counts, and decides the outcome.
enum class StopCause { none, timeout, cancel_requested, lease_lost, drain };

struct JobRun {
  enum class Phase { waiting, running, settling };

  JobRun(ClaimedJob claimed, std::string worker, Clock& clock, LogCap cap,
         std::function<void()> on_change)
      : job(std::move(claimed)),
        worker_id(std::move(worker)),
        output(clock, cap, std::move(on_change)) {}

  const ClaimedJob job;
  const std::string worker_id;  // The identity under which it was claimed.
  Phase phase = Phase::waiting;
  Clock::Steady accepted_at{};
  Clock::Steady lease_until{};  // Its own hard limit, measured from before the claim was sent.
  Clock::Steady started_at{};

  CancelSource cancel;
  StopCause cause = StopCause::none;
  Event stopped;  // Set when cancel was.

  JobOutput output;
  std::optional<JobContext> context;
  Event finished;   // The handler has returned.
  Outcome outcome;  // What it returned.

  bool reporting = false;  // The Reporter has lines of it on the way.
  Event reported;          // Set when they have arrived; valid while reporting.
};

}  // namespace millrace::worker
