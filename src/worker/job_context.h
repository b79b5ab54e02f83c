// JobContext: what a handler may do besides returning an Outcome.
//
// Everything here may be called from any thread while the handler runs. A handler that runs long
// asks cancelled() now and then, or waits on token(): the job was cancelled, its time is up, the
// lease is lost or the process is draining. What it returns after that is not used.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "model/job.h"
#include "worker/job_output.h"

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::worker {

class JobContext {
 public:
  struct Parts {
    const ClaimedJob& job;
    JobOutput& output;
    CancelToken token;
    Clock& clock;
    Clock::Steady deadline;
    std::chrono::milliseconds run_timeout;
  };

  explicit JobContext(Parts parts) : parts_(std::move(parts)) {}

  const ClaimedJob& job() const { return parts_.job; }

  // Shown to people and stored at most once a second.
  void progress(int percent, std::string message = {}, std::string data_json = {}) {
    parts_.output.set_progress(
        {.percent = percent, .message = std::move(message), .data_json = std::move(data_json)});
  }
  // One of a few that people follow: told soon, by itself, and before the end of the job is.
  void step(int percent, std::string message) {
    parts_.output.add_step({.percent = percent, .message = std::move(message), .data_json = {}});
  }
  void log(LogLevel level, std::string_view message) { parts_.output.add_log(level, message); }

  bool cancelled() const { return parts_.token.cancelled(); }
  std::string cancel_reason() const { return parts_.token.reason(); }
  CancelToken token() const { return parts_.token; }
  Clock& clock() { return parts_.clock; }
  // Later by what the job has waited.
  Clock::Steady deadline() const { return parts_.deadline + waited(); }
  std::chrono::milliseconds run_timeout() const { return parts_.run_timeout; }

  // Waiting for its turn at something that the jobs of this process share is not running: the time
  // between begin_wait() and end_wait() is added to the job's own. In pairs; several may overlap.
  void begin_wait() {
    const std::lock_guard lock(wait_mutex_);
    if (waits_++ == 0) waits_since_ = parts_.clock.now();
  }
  void end_wait() {
    const std::lock_guard lock(wait_mutex_);
    if (--waits_ == 0) waited_ += parts_.clock.now() - waits_since_;
  }
  Clock::Duration waited() const {
    const std::lock_guard lock(wait_mutex_);
    return waits_ == 0 ? waited_ : waited_ + (parts_.clock.now() - waits_since_);
  }

  // Of a job whose type is bound to a provider: false at its beginning, true as soon as the
  // provider is asked. However the delivery ends, one that asked nobody says nothing about the
  // provider. Who never says it asks.
  void set_asked(bool asked) { parts_.output.set_asked(asked); }

  // The following happen only if the outcome is ok or partial, in the transaction that records it.

  // A follow-up job, as millrace.enqueue_jobs takes it.
  void add_effect_job(json::Object spec) { parts_.output.add_job(std::move(spec)); }
  // For whoever follows the job. Kinds that begin with "job." or "batch." are the engine's own: a
  // job that tells such an event fails with invalid_effects.
  void add_event(std::string_view kind, json::Value data) {
    parts_.output.add_event(kind, std::move(data));
  }
  // Statements of the handler's own, run only if this delivery still holds the lease. Such a job is
  // settled in a transaction of its own.
  void in_settlement(std::vector<SqlStatement> statements) {
    parts_.output.add_statements(std::move(statements));
  }

 private:
  Parts parts_;
  mutable std::mutex wait_mutex_;  // Guards all below.
  int waits_ = 0;
  Clock::Steady waits_since_{};
  Clock::Duration waited_{0};
};

}  // namespace millrace::worker
