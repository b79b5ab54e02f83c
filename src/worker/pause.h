// Waiting for an event or a time, whichever comes first.
#pragma once

#include "base/clock.h"
#include "base/event.h"

namespace millrace::worker {

// True when the event is set, false when the time passed first. `clock` outlives the wait.
awaitable<bool> wait_for(Clock& clock, Event event, Clock::Duration duration);
awaitable<bool> wait_until(Clock& clock, Event event, Clock::Steady time);

}  // namespace millrace::worker
