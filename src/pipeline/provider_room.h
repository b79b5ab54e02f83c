// Room at the limits of a provider for one call (L-04), whose name the stage knows: the limits are
// those of whom it asks, whatever other pipelines bind jobs of the same type to.
//
// Where the claim of the job counted against that provider, it took the room of the first call of
// the delivery; every further call takes its own, and so does each where it did not. A short pause
// is waited for with the job; for a longer one it goes back and comes again, uncharged: what was
// paid for before is kept.
#pragma once

#include "pipeline/stage_job.h"

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
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

struct RoomAsked {
  std::string provider;  // "openai:gpt-4o-mini"
  std::uint64_t tokens = 0;
  bool first = true;           // Of the delivery.
  bool claimed_tokens = true;  // The claim took the tokens of the first call, too.
  // How many tokens to ask for instead where only so many are left; nothing: none would do. Empty:
  // always all of them.
  std::function<awaitable<std::optional<std::uint64_t>>(std::uint64_t left)> fewer = {};
};

// Answers what millrace.end_call settles the tokens by; empty: they are settled with the job.
awaitable<std::expected<json::Object, Outcome>> take_room(StageJob& job, RoomAsked asked);

}  // namespace millrace::pipeline
