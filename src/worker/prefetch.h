// Prefetch: how many jobs a process claims ahead of its free slots.
//
// As many as it gets done in a moment: enough that the slots do not run dry while a claim is under
// way, and so few that what waits here would not have been run sooner elsewhere. It is found by
// growing, from about as many as there are slots, while claims bring all that they ask for. One
// that does not says that the queue is empty: what comes next may find another process free, so the
// number goes down again. Threading: one strand.
#pragma once

#include "base/clock.h"

#include <chrono>
#include <cstdint>

namespace millrace::worker {

struct PrefetchFacts {
  int slots = 1;
  int max = 0;
  int step = 0;                            // How far growth has come.
  double average_run_ms = -1;              // Of recent jobs; negative until there is one.
  double starts_per_ms = -1;               // While jobs waited; negative when not known.
  double claim_ms = -1;                    // How long a round of claims takes; negative likewise.
  std::chrono::milliseconds run_max{500};  // Longer jobs on average: none.
};

int prefetch_target(const PrefetchFacts& facts);

class Prefetch {
 public:
  Prefetch(int slots, int max, std::chrono::milliseconds run_max);

  int ahead() const { return prefetch_target(facts_); }
  // Jobs take next to no time, of late.
  bool ends_at_once() const;

  void note_accepted(Clock::Steady now, bool none_waited);  // Now some do.
  void note_started(Clock::Steady now, bool more_wait) {
    ++started_;
    if (!more_wait) note_dry(now);
  }
  void note_dry(Clock::Steady now);  // None waits any more.
  void note_run(Clock::Duration took);
  // A round of claims was answered, after so long. `full`: with all that was asked for.
  void note_claimed(bool full, Clock::Duration took, Clock::Steady now);
  void note_aged();  // Some waited too long: the slots are busy with something long.

 private:
  int first_step() const;

  PrefetchFacts facts_;
  std::uint64_t started_ = 0;  // Since the last round of claims.
  Clock::Duration waited_{0};  // How long some job waited since then, less what goes on.
  Clock::Steady waits_since_ = Clock::Steady::max();
  bool grows_when_dry_ = false;  // The last round of claims was full, and not yet run out.
};

}  // namespace millrace::worker
