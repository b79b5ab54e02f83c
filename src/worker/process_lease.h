// ProcessLease: keeps this process alive in the eyes of the database.
//
// Flow: registers, then beats on a connection of its own. While the database answers, the lease is
// held until the answer's lease, measured from before the request was sent, less a margin; when
// that time passes without an answer, or the answer says that the process was declared dead,
// everything it holds is lost: `lost` is called and the process registers anew under another id.
// Beats carry cancel requests, the number of suspects and what limits queues. Threading: one
// strand. Lifetime: store, clock, random and log outlive it.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/random.h"
#include "store/job_store.h"
#include "worker/options.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millrace::worker {

class ProcessLease {
 public:
  struct Callbacks {
    std::function<void()> lost;
    std::function<void(const store::CancelRequest&)> cancel;
    std::function<void(int)> suspects;
    std::function<void(std::optional<std::vector<std::string>>)> limited;
    std::function<int()> running;
  };

  ProcessLease(store::JobStore& store, Clock& clock, Random& random, Logger& log,
               const Options& options, std::vector<std::string> job_types, Callbacks callbacks);

  awaitable<void> run();  // Until stop().
  void stop();
  // Something said that the process is not known: ask now.
  void doubt();
  void set_draining();

  // The identity to claim under; none while there is none.
  const std::optional<store::WorkerKey>& key() const { return key_; }
  // False also when the lease has ended by our own clock and nobody has noticed yet: a process that
  // was stopped for a while must not begin anything before it has.
  bool held() const { return held_at(clock_.now()); }
  bool held_at(Clock::Steady now) const { return key_ && now < held_until_; }
  // Set while there is a key.
  Event registered() const { return registered_; }
  std::chrono::milliseconds beat_interval() const;

 private:
  awaitable<void> register_process();
  awaitable<void> beat_until_lost();
  enum class Beat { renewed, failed, dead };
  awaitable<Beat> beat_once();
  std::string new_worker_id();
  void lose(std::string_view why);
  std::int64_t client_time_ms() const;

  store::JobStore& store_;
  Clock& clock_;
  Random& random_;
  Logger& log_;
  const Options& options_;
  std::vector<std::string> job_types_;
  Callbacks callbacks_;
  std::optional<store::WorkerKey> key_;
  Clock::Steady held_until_{};
  Event registered_;
  Event stopping_;
  Event beat_now_;
  bool draining_ = false;
};

}  // namespace millrace::worker
