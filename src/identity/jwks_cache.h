// JwksCache: the key set an issuer publishes at a URL, kept as fresh as the issuer asks for.
//
// Flow: TokenVerifier takes keys() for every token and newer_keys() when none of them fits; the
// cache fetches through http::Client, one request at a time, never sooner after the last attempt
// than refresh_interval. A flood of tokens with invented key ids therefore costs the issuer one
// request per interval. When a fetch fails, the last good set stays in use for stale_max.
//
// While the set is just past its age it is used on and refreshed beside; past twice its age a call
// waits for the fetch, unless the last one failed. Ages are measured by the steady clock: a jump of
// the wall clock changes nothing.
// Threading: any thread; a mutex, because every request on every thread reads the current set.
// Lifetime: client, clock and log outlive it; stop() must have returned before it goes away.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/task.h"
#include "http/client.h"
#include "identity/freshness.h"
#include "identity/key_set.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace millrace::identity {

using KeySetPtr = std::shared_ptr<const KeySet>;  // Shared by the cache and checks under way.

struct JwksOptions {
  std::string url;  // https, or http to this machine.
  std::chrono::milliseconds fetch_timeout{5'000};
  std::chrono::seconds refresh_interval{10};
  std::chrono::seconds stale_max{86'400};  // Past the set's age.
  FreshnessBounds freshness;
};

// invalid_argument naming what is wrong; for start-up.
Result<void> check_jwks_options(const JwksOptions& options);

class JwksCache {
 public:
  // `options` have passed check_jwks_options.
  JwksCache(Executor executor, http::Client& client, const Clock& clock, Logger& log,
            JwksOptions options);

  void start();            // Fetches, so that the first caller finds the keys. Not required.
  awaitable<void> stop();  // Ends the fetch under way. Safe twice and before start().

  // unavailable when there is no set to use.
  Task<KeySetPtr> keys();
  // A set that is not `seen`, if one can be had now; else `seen` again.
  Task<KeySetPtr> newer_keys(KeySetPtr seen);

 private:
  struct Fetched {
    KeySetPtr keys;
    std::chrono::seconds max_age;
  };

  bool usable_at(Clock::Steady now) const;
  void fetch_if_due(Clock::Steady now);
  Task<KeySetPtr> keys_after(std::optional<Event> landed);
  awaitable<void> fetch(Event landed);
  Task<Fetched> download();
  void note(Result<Fetched> fetched, Clock::Steady asked_at);

  http::Client& client_;
  const Clock& clock_;
  Logger log_;
  const JwksOptions options_;
  CancelSource stopping_;
  TaskGroup tasks_;

  std::mutex mutex_;  // Guards all below.
  KeySetPtr keys_;
  Clock::Steady fetched_at_{};
  std::chrono::seconds max_age_{0};
  std::optional<Clock::Steady> attempted_at_;
  bool attempt_failed_ = false;
  std::optional<Event> flight_;  // The fetch under way; set when it has ended.
  bool stopped_ = false;
};

}  // namespace millrace::identity
