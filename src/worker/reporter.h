// Reporter: stores what running handlers say, at most once a second for all of them together, and
// a little more often while there are steps among it.
//
// Flow: a JobOutput that has something new puts its run on the list; run() waits a moment for more,
// takes the list, sends one report_progress and one append_logs, and waits: a second, or until
// there is a step. The answers tell of cancel requests. A job that ends while its lines are on the
// way waits for them (reported), and for the steps that are left (report_steps), so that nothing
// comes after its end. Threading: mark() and hurry() from any thread, the rest on one strand.
// Lifetime: store, clock and log outlive it.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "store/job_store.h"
#include "worker/job_run.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::worker {

class Reporter {
 public:
  using OnCancel = std::function<void(JobId id, LeaseToken token)>;

  Reporter(store::JobStore& store, Clock& clock, Logger& log, std::chrono::milliseconds interval,
           OnCancel on_cancel);

  void mark(std::weak_ptr<JobRun> run);
  void hurry();  // What was marked is, or has, a step.
  // Those of a job whose handler has ended; nobody else reports of it any more.
  awaitable<void> report_steps(std::shared_ptr<JobRun> run);
  awaitable<void> run();  // Until stop().
  void stop();

 private:
  using Runs = std::vector<std::shared_ptr<JobRun>>;

  Runs take_marked();
  awaitable<void> report(Runs runs);
  awaitable<void> report_of(std::string worker_id, Runs runs);
  awaitable<void> send_progress(std::string worker_id, std::vector<store::ProgressItem> items);
  // False when nothing was stored and the lines may be sent again.
  awaitable<bool> send_logs(std::string worker_id, std::vector<store::JobLogItem> items);

  store::JobStore& store_;
  Clock& clock_;
  Logger& log_;
  std::chrono::milliseconds interval_;
  OnCancel on_cancel_;
  Event marked_event_;
  Event step_event_;
  Event stopping_;
  std::mutex mutex_;  // Guards marked_.
  std::vector<std::weak_ptr<JobRun>> marked_;
};

}  // namespace millrace::worker
