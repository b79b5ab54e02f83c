// Keeper: does the engine's periodic duties while it holds the keeper's lease row.
//
// Flow: the election loop calls KeeperStore::elect every third of the ttl; while elected, each duty
// runs in its own loop at its own interval, and rarely while the database says that nothing is at
// hand (asked every four seconds, or every ttl, and when a notification came). A lost election
// stops the duties at their next step; a database that does not answer counts as lost once the ttl,
// measured from before the last successful call was sent, has passed. Threading: one strand.
// Lifetime: store, clock, random and log outlive it; stop() must have returned before it goes away.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/random.h"
#include "base/spawn.h"
#include "keeper/duties.h"
#include "store/keeper_store.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::keeper {

// How long a keeper that fell silent keeps its duties from others. Well below the worker's lease,
// so that the death of both at once is noticed no later than that of the worker alone.
std::chrono::milliseconds keeper_ttl(std::chrono::milliseconds worker_lease);

struct Options {
  std::string holder;  // Unique among all keepers: host, process, something random.
  std::chrono::milliseconds ttl{10'000};
  std::chrono::milliseconds failure_pause_max{10'000};
  // Told of every round of a duty: whether it went well, and how much it handled.
  std::function<void(std::string_view duty, bool succeeded, std::int64_t handled)> on_duty = {};
};

class Keeper {
 public:
  Keeper(Executor executor, store::KeeperStore& store, Clock& clock, Random& random, Logger& log,
         Options options, std::vector<Duty> duties = standard_duties());

  void start();
  // Finishes the calls under way and gives up the lease row. Safe twice and before start().
  awaitable<void> stop();
  bool leading() const;
  void nudge();  // There may be something to do soon.

 private:
  awaitable<void> run_election();
  awaitable<void> run_watch();
  awaitable<void> run_duty(std::size_t index);
  awaitable<bool> run_batches(const Duty& duty);  // False when it failed.
  awaitable<void> pause(std::chrono::milliseconds duration);
  void set_leading(bool leading, Clock::Steady held_until);

  store::KeeperStore& store_;
  Clock& clock_;
  Random& random_;
  Logger log_;
  Options options_;
  std::vector<Duty> duties_;
  TaskGroup tasks_;
  Event elected_;  // Set while leading.
  Event busy_;     // Set while something is at hand, as far as is known.
  Event nudged_;
  Event stopping_;
  Clock::Steady held_until_{};
  bool leading_ = false;
  bool started_ = false;
};

}  // namespace millrace::keeper
