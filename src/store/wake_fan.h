// WakeFan: the hints of one WakeSource for several who wait, so that a process has one session that
// listens, whatever waits in it: live streams, long polls of remote workers, a worker.
//
// Flow: run() waits on the source, from the first who asks on, and tells every outlet what came: a
// hint, or that none come at present. Each outlet is a WakeSource of its own and misses nothing
// while nobody waits on it. Threading: run() on one executor; an outlet for one coroutine, on any.
// Lifetime: source and clock outlive run(); outlets may outlive the fan: they say unavailable then.
#pragma once

#include "base/clock.h"
#include "store/wake_source.h"

#include <memory>

namespace millrace::store {

class WakeFan {
 public:
  WakeFan(WakeSource& source, Clock& clock);
  ~WakeFan();
  WakeFan(const WakeFan&) = delete;
  WakeFan& operator=(const WakeFan&) = delete;

  std::unique_ptr<WakeSource> outlet();  // From any thread.

  awaitable<void> run();  // Until stop(), or until it is certain that no hint ever comes.
  void stop();            // Safe twice and before run().

 private:
  struct State;
  class Outlet;

  WakeSource& source_;
  Clock& clock_;
  std::shared_ptr<State> state_;  // Shared with the outlets.
};

}  // namespace millrace::store
