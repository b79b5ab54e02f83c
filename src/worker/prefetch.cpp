#include "worker/prefetch.h"

#include <algorithm>
#include <utility>

namespace millrace::worker {

namespace {

constexpr double kMomentMs = 100;
constexpr double kAtOnceMs = 0.1;
constexpr double kMomentMaxMs = 1000;
constexpr double kClaims = 2;  // What is there must last for so many rounds of claims.
constexpr int kFirstStep = 8;  // Where growth begins, unless there are more slots.
// Fast: where many processes stand in line for the same jobs, each claim costs all of them.
constexpr int kGrowth = 4;            // By each full round of claims.
constexpr int kDryGrowth = 16;        // Once more when what it brought has run out.
constexpr int kShrinking = 2;         // By each that was not full.
constexpr double kRunShare = 0.05;    // Weight of the newest job in the average.
constexpr double kStartsShare = 0.3;  // Weight of the newest round of claims.

double as_ms(Clock::Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double mixed(double before, double now, double share) {
  return before < 0 ? now : before * (1 - share) + now * share;
}

}  // namespace

int prefetch_target(const PrefetchFacts& facts) {
  const double run = facts.average_run_ms;
  if (run < 0 || run > static_cast<double>(facts.run_max.count())) return 0;
  // Where many stand in line for the same jobs a claim takes its time: what runs meanwhile must be
  // there, or all wait for each other.
  const double moment = std::clamp(facts.claim_ms * kClaims, kMomentMs, kMomentMaxMs);
  double target = std::min(facts.step, facts.max);
  // What the handlers allow, and what was seen: the database or the processor may allow less.
  if (run > 0) target = std::min(target, facts.slots * moment / run);
  if (facts.starts_per_ms >= 0) target = std::min(target, facts.starts_per_ms * moment);
  return static_cast<int>(target);
}

Prefetch::Prefetch(int slots, int max, std::chrono::milliseconds run_max)
    : facts_{.slots = slots, .max = max, .run_max = run_max} {
  facts_.step = first_step();
}

int Prefetch::first_step() const {
  return std::min(facts_.max, std::max(kFirstStep, facts_.slots));
}

bool Prefetch::ends_at_once() const {
  return facts_.average_run_ms >= 0 && facts_.average_run_ms < kAtOnceMs;
}

void Prefetch::note_accepted(Clock::Steady now, bool none_waited) {
  if (none_waited) waits_since_ = now;
}

void Prefetch::note_dry(Clock::Steady now) {
  if (waits_since_ == Clock::Steady::max()) return;
  waited_ += now - std::exchange(waits_since_, Clock::Steady::max());
  if (!std::exchange(grows_when_dry_, false)) return;
  facts_.step = std::min(facts_.step * kDryGrowth, facts_.max);
}

void Prefetch::note_run(Clock::Duration took) {
  facts_.average_run_ms = mixed(facts_.average_run_ms, as_ms(took), kRunShare);
}

void Prefetch::note_claimed(bool full, Clock::Duration took, Clock::Steady now) {
  facts_.claim_ms = mixed(facts_.claim_ms, as_ms(took), kStartsShare);
  facts_.step =
      std::clamp(full ? facts_.step * kGrowth : facts_.step / kShrinking, first_step(), facts_.max);
  grows_when_dry_ = full;
  const bool waits = waits_since_ != Clock::Steady::max();
  const double waited = as_ms(waited_ + (waits ? now - waits_since_ : Clock::Duration(0)));
  if (started_ > 0 && waited > 0) {
    facts_.starts_per_ms =
        mixed(facts_.starts_per_ms, static_cast<double>(started_) / waited, kStartsShare);
  }
  started_ = 0;
  waited_ = Clock::Duration(0);
  if (waits) waits_since_ = now;
}

void Prefetch::note_aged() {
  facts_.average_run_ms =
      std::max(facts_.average_run_ms, 2.0 * static_cast<double>(facts_.run_max.count()));
}

}  // namespace millrace::worker
