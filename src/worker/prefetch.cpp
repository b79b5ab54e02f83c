#include "worker/prefetch.h"

#include <algorithm>
#include <utility>

namespace millrace::worker {

namespace {

constexpr double kMomentMs = 100;
constexpr int kFirstStep = 8;  // Where growth begins, unless there are more slots.
// Fast: where many processes stand in line for the same jobs, each claim costs all of them.
constexpr int kGrowth = 4;            // By each full round of claims.
constexpr int kDryGrowth = 16;        // By each during which the slots ran dry.
constexpr int kShrinking = 2;         // By each that was not.
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
  double target = std::min(facts.step, facts.max);
  // What the handlers allow, and what was seen: the database or the processor may allow less.
  if (run > 0) target = std::min(target, facts.slots * kMomentMs / run);
  if (facts.starts_per_ms >= 0) target = std::min(target, facts.starts_per_ms * kMomentMs);
  return static_cast<int>(target);
}

Prefetch::Prefetch(int slots, int max, std::chrono::milliseconds run_max)
    : facts_{.slots = slots, .max = max, .run_max = run_max} {
  facts_.step = first_step();
}

int Prefetch::first_step() const {
  return std::min(facts_.max, std::max(kFirstStep, facts_.slots));
}

void Prefetch::note_accepted(Clock::Steady now, bool none_waited) {
  if (none_waited) waits_since_ = now;
}

void Prefetch::note_dry(Clock::Steady now) {
  if (waits_since_ == Clock::Steady::max()) return;
  waited_ += now - std::exchange(waits_since_, Clock::Steady::max());
  ran_dry_ = true;
}

void Prefetch::note_run(Clock::Duration took) {
  facts_.average_run_ms = mixed(facts_.average_run_ms, as_ms(took), kRunShare);
}

void Prefetch::note_claimed(bool full, Clock::Steady now) {
  const int grown = facts_.step * (std::exchange(ran_dry_, false) ? kDryGrowth : kGrowth);
  facts_.step = std::clamp(full ? grown : facts_.step / kShrinking, first_step(), facts_.max);
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
