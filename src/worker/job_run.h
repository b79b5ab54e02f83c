// JobRun: one delivery while this process holds it, from the claim to the answer of the fence.
//
// Owned by shared_ptr because a handler that ignores its token may outlive everything else. The
// fields belong to the runtime's executor; `output` and `cancel` are thread-safe. An object that
// nobody but the dispatcher knows any more serves the next delivery: begin() makes it new.
#pragma once

#include "base/cancel.h"
#include "base/event.h"
#include "model/job.h"
#include "worker/handler_registry.h"
#include "worker/job_context.h"
#include "worker/job_output.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace millrace::worker {

// Why a handler was told to stop; the first cause counts, and decides the outcome.
enum class StopCause { none, timeout, cancel_requested, lease_lost, drain };

struct JobRun : std::enable_shared_from_this<JobRun> {
  enum class Phase { waiting, running, settling };
  // The identity under which a job was claimed; one for all jobs of a claim.
  using WorkerId = std::shared_ptr<const std::string>;

  JobRun(Clock& clock, LogCap cap, std::function<void(std::weak_ptr<JobRun>)> on_output,
         std::function<void()> on_step = {})
      : output(
            clock, cap, [this, call = std::move(on_output)] { call(weak_from_this()); },
            std::move(on_step)) {}

  void begin(ClaimedJob claimed, WorkerId claimed_by) {
    job = std::move(claimed);
    worker = std::move(claimed_by);
    phase = Phase::waiting;
    lease_until = {};
    cause = StopCause::none;
    entry = nullptr;
    came_with.reset();
    returned = false;
    given_up = false;
    outcome = {};
  }
  // The handler said nothing, and was told nothing that anybody could still ask about.
  bool reusable() {
    context.reset();
    return !output.used() && !reporting && cancel.untouched();
  }
  // What may be long and is of no use to the next job.
  void forget_texts() {
    std::string().swap(job.payload_json);
    std::string().swap(outcome.result_json);
    job.carry_json.reset();
  }
  const std::string& worker_id() const { return *worker; }

  ClaimedJob job;
  WorkerId worker;
  Phase phase = Phase::waiting;
  Clock::Steady accepted_at{};
  Clock::Steady lease_until{};  // Its own hard limit, measured from before the claim was sent.
  Clock::Steady started_at{};
  Clock::Steady ended_at{};  // When its handler returned, or was given up.
  Clock::Steady deadline{};  // When it is told to stop; once it was, when we stop waiting for it.

  CancelSource cancel;
  StopCause cause = StopCause::none;

  JobOutput output;
  std::optional<JobContext> context;
  const HandlerEntry* entry = nullptr;  // Set while it runs.
  bool returned = false;                // The handler has.
  bool given_up = false;                // Settled although the handler has not returned.
  Outcome outcome;                      // What it returned.

  // The job's traceparent, while the run has one of its own in its place.
  std::optional<std::string> came_with;

  bool reporting = false;         // The Reporter has lines of it on the way.
  std::optional<Event> reported;  // Set when they have arrived; valid while reporting.

  std::size_t held_at = 0;  // Its places in the dispatcher's lists.
  std::size_t running_at = 0;
};

}  // namespace millrace::worker
