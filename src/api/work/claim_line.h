// ClaimLine: where the long polls of remote workers wait for jobs, so that a thousand of them ask
// the database no more often than one.
//
// Flow: those who want the same (tenant, queues, types) are a group. Time is cut into rounds: a
// notification, or a polling interval, ends one and begins the next. In each round the members of a
// group ask one after the other until one of them gets nothing; then the group is dry for the rest
// of the round and nobody asks. run() ends rounds; it listens from the first long poll on. Polling
// is the guarantee: a notification that is lost costs one interval.
//
// Threading: claim() on any executor, run() on one, the rest from anywhere. Lifetime: wake, clock
// and log outlive it; no claim() is under way when it goes.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/task.h"
#include "model/job.h"
#include "store/wake_source.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::api {

class ClaimLine {
 public:
  using Jobs = std::vector<ClaimedJob>;

  struct Waiting {
    std::string group;
    Clock::Steady until;  // An empty answer is given then.
    CancelToken cancel;   // Likewise: the client has gone, or the server stops.
    std::chrono::milliseconds beat_every{10'000};
  };
  struct Calls {
    std::function<Task<Jobs>()> ask;   // Claims for the worker; nothing: there is nothing.
    std::function<Task<void>()> beat;  // Says that the worker is alive; an error ends the wait.
  };

  // Without a wake source there is polling only.
  ClaimLine(store::WakeSource* wake, Clock& clock, const Logger& log,
            std::chrono::milliseconds poll_interval);

  Task<Jobs> claim(Waiting waiting, Calls calls);

  awaitable<void> run();  // Until stop().
  void stop();            // Safe twice and before run().

  // Ends the round: whoever waits may ask again.
  void ring();

 private:
  struct Round {
    std::uint64_t number = 1;
    Event ended;
  };
  struct Group {
    std::uint64_t dry = 0;  // The round in which the last one got nothing.
    std::size_t members = 0;
    std::optional<Event> asking;  // Set when the one who asks is done.
  };
  class Membership;
  class Turn;

  Round round() const;
  awaitable<void> pause(Event event, Clock::Steady until, CancelToken cancel);
  awaitable<void> next_round();

  store::WakeSource* wake_;
  Clock& clock_;
  const Logger& log_;
  const std::chrono::milliseconds poll_interval_;
  Event used_;  // Somebody has waited.
  Event stopping_;

  mutable std::mutex mutex_;  // Guards round_ and groups_.
  Round round_;
  std::map<std::string, Group> groups_;
};

}  // namespace millrace::api
