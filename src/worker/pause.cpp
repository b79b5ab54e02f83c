#include "worker/pause.h"

#include "base/either.h"

namespace millrace::worker {

using namespace either;

// The clock is a service that outlives every wait.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
awaitable<bool> wait_for(Clock& clock, Event event, Clock::Duration duration) {
  if (event.is_set()) co_return true;
  if (duration <= Clock::Duration::zero()) co_return false;
  co_await (event.wait() || clock.sleep_for(duration));
  co_return event.is_set();
}

awaitable<bool> wait_until(Clock& clock, Event event, Clock::Steady time) {
  return wait_for(clock, event, time - clock.now());
}

}  // namespace millrace::worker
