// Room at the limits of a provider for one call (L-04), whose name the stage knows: the limits are
// those of whom it asks, whatever other pipelines bind jobs of the same type to.
//
// Where the claim of the job counted against that provider, it took the room of the first call of
// the delivery, as the database knows; every further call takes its own, and so does each where it
// did not. A short pause is waited for with the job; for a longer one it goes back and comes again,
// uncharged: what was paid for before is kept. Calls that cost money take theirs with their record:
// paid_call.h.
#pragma once

#include "pipeline/stage_job.h"

#include <chrono>
#include <optional>
#include <string>

namespace millrace::pipeline {

// How long one call may keep the slot of its worker while nothing is done.
class Patience {
 public:
  explicit Patience(StageJob& job) : job_(job) {}
  // Nothing: the pause is over. An outcome: it is too long, or the job is wanted no longer.
  awaitable<std::optional<Outcome>> wait(std::chrono::milliseconds pause, std::string why);

 private:
  StageJob& job_;
  std::chrono::milliseconds waited_{0};
};

// For one request of a delivery that is no paid call. Nothing: there is room.
awaitable<std::optional<Outcome>> take_room(StageJob& job, std::string provider);

}  // namespace millrace::pipeline
