#include "worker/dispatcher.h"

#include "base/either.h"
#include "base/fault.h"
#include "base/history.h"
#include "worker/handlers/function_handler.h"
#include "worker/pause.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace millrace::worker {

namespace {

using namespace either;
using std::chrono::milliseconds;

constexpr double kAverageShare = 0.05;  // Weight of the newest job in the running average.
constexpr std::size_t kResultMaxBytes = 256 * 1024;

std::string_view to_string(StopCause cause) {
  switch (cause) {
    case StopCause::none:
      return "none";
    case StopCause::timeout:
      return "timeout";
    case StopCause::cancel_requested:
      return "cancel_requested";
    case StopCause::lease_lost:
      return "lease_lost";
    case StopCause::drain:
      return "drain";
  }
  return "unknown";
}

milliseconds run_timeout_of(const ClaimedJob& job, const HandlerEntry& entry) {
  return std::min(job.run_timeout, entry.options.timeout.value_or(job.run_timeout));
}

void note_run(const JobRun& run, const char* phase) {
  if (!history::enabled()) return;
  history::record("run", {{"ph", phase},
                          {"job", run.job.id.to_string()},
                          {"token", run.job.token.to_string()},
                          {"delivery", run.job.delivery_count},
                          {"attempt", run.job.attempt}});
}

}  // namespace

Dispatcher::Dispatcher(Executor executor, Services services, const Options& options,
                       const HandlerRegistry& handlers)
    : services_(std::move(services)),
      options_(options),
      handlers_(handlers),
      tasks_(std::move(executor), services_.log) {}

// Prefetch pays while jobs are shorter than a round trip or two; a long job would make what waits
// behind it wait here although another process is free.
int Dispatcher::prefetch() const {
  if (average_run_ms_ < 0) return 0;
  if (average_run_ms_ > static_cast<double>(options_.prefetch_run_max.count())) return 0;
  return options_.prefetch;
}

int Dispatcher::claimable() const {
  if (draining_) return 0;
  const int ahead = prefetch();
  const int have = static_cast<int>(waiting_.size());
  if (have > ahead / 2) return 0;  // Claim in batches, not one by one.
  return std::max(0, options_.slots + ahead - static_cast<int>(slots_used_) - have);
}

Dispatcher::Run Dispatcher::make_run(ClaimedJob job, const store::WorkerKey& key) {
  // The output tells the reporter which run it belongs to, but must not keep it alive.
  auto self = std::make_shared<std::weak_ptr<JobRun>>();
  auto run =
      std::make_shared<JobRun>(std::move(job), key.worker_id, services_.clock, options_.log_cap,
                               [&reporter = services_.reporter, self] { reporter.mark(*self); });
  *self = run;
  return run;
}

void Dispatcher::accept(std::vector<ClaimedJob> jobs, const store::WorkerKey& key,
                        Clock::Steady asked_at) {
  for (auto& job : jobs) {
    auto run = make_run(std::move(job), key);
    run->accepted_at = services_.clock.now();
    run->lease_until = asked_at + run->job.lease;
    runs_.emplace(run->job.token, run);
    waiting_.push_back(std::move(run));
  }
  start_waiting();
}

void Dispatcher::return_unused(std::vector<ClaimedJob> jobs, const store::WorkerKey& key) {
  MR_SOMETIMES(!jobs.empty(), "claimed_too_late");
  return_jobs(std::move(jobs), key);
}

void Dispatcher::return_jobs(std::vector<ClaimedJob> jobs, const store::WorkerKey& key) {
  for (auto& job : jobs) {
    auto run = make_run(std::move(job), key);
    run->lease_until = Clock::Steady::max();  // Not to be extended: the sooner it ends the better.
    runs_.emplace(run->job.token, run);
    tasks_.add("return job", settle_unstarted(run, Outcome::handback("not started")));
  }
}

void Dispatcher::return_unheld(const std::vector<store::HeldLease>& leases,
                               const store::WorkerKey& key) {
  std::vector<ClaimedJob> jobs;
  for (const auto& lease : leases) {
    MR_ALWAYS(!runs_.contains(lease.token), "unheld_is_not_held");
    auto& job = jobs.emplace_back();
    job.id = lease.id;
    job.token = lease.token;
  }
  return_jobs(std::move(jobs), key);
}

std::vector<LeaseToken> Dispatcher::held_tokens() const {
  std::vector<LeaseToken> held;
  held.reserve(runs_.size());
  for (const auto& [token, run] : runs_) held.push_back(token);
  return held;
}

void Dispatcher::start_waiting() {
  while (!draining_ && !waiting_.empty() &&
         slots_used_ < static_cast<std::size_t>(options_.slots) && services_.leased()) {
    auto run = std::move(waiting_.front());
    waiting_.pop_front();
    ++slots_used_;
    run->phase = JobRun::Phase::running;
    tasks_.add("job", run_job(std::move(run)));
  }
}

awaitable<void> Dispatcher::run_job(Run run) {
  const auto* entry = handlers_.find(run->job.job_type);
  if (entry == nullptr) {
    services_.log.error("job_without_handler",
                        {{"job_id", run->job.id}, {"job_type", run->job.job_type}});
    co_await settle_unstarted(run, Outcome::handback("no handler for this type"));
  } else {
    const auto run_timeout = run_timeout_of(run->job, *entry);
    run->started_at = services_.clock.now();
    run->context.emplace(JobContext::Parts{.job = run->job,
                                           .output = run->output,
                                           .token = run->cancel.token(),
                                           .clock = services_.clock,
                                           .deadline = run->started_at + run_timeout,
                                           .run_timeout = run_timeout});
    tasks_.add("handler", call_handler(run, entry));
    co_await wait_for_end(run, entry);
    co_await finish(run);
  }
  --slots_used_;
  start_waiting();
  changed_.set();
}

awaitable<void> Dispatcher::call_handler(Run run, const HandlerEntry* entry) {
  const std::shared_ptr<JobContext> context(run, &*run->context);  // Keeps the whole run alive.
  note_run(*run, "start");
  MR_FAULT("run.before");
  try {
    run->outcome = co_await entry->handler->run(context);
  } catch (...) {
    run->outcome = outcome_of_exception(std::current_exception());
  }
  MR_FAULT("run.after");
  note_run(*run, "end");
  const auto took =
      std::chrono::duration<double, std::milli>(services_.clock.now() - run->started_at).count();
  average_run_ms_ =
      average_run_ms_ < 0 ? took : average_run_ms_ * (1 - kAverageShare) + took * kAverageShare;
  run->finished.set();
}

// Returns when the handler has returned, or when it was told to stop and did not in time.
awaitable<void> Dispatcher::wait_for_end(Run run, const HandlerEntry* entry) {
  if (run->finished.is_set()) co_return;
  const auto run_timeout = run_timeout_of(run->job, *entry);
  const auto limit = entry->handler->wait_limit(run_timeout);
  if (!run->stopped.is_set()) {
    const auto left = run->started_at + limit - services_.clock.now();
    co_await (run->finished.wait() || run->stopped.wait() || services_.clock.sleep_for(left));
  }
  if (run->finished.is_set()) co_return;
  stop(*run, StopCause::timeout, fmt::format("the job ran longer than {} ms", run_timeout.count()));
  co_await wait_for(services_.clock, run->finished, entry->handler->stop_grace());
}

// Settles, and keeps the slot until the handler is really gone.
awaitable<void> Dispatcher::finish(Run run) {
  const bool returned = run->finished.is_set();
  if (!returned) {
    ++stuck_;
    changed_.set();
    services_.log.error("handler_ignores_stop", {{"job_id", run->job.id},
                                                 {"job_type", run->job.job_type},
                                                 {"cause", to_string(run->cause)}});
  }
  if (run->cause == StopCause::lease_lost) {
    ++totals_.fenced;
    forget(run);
  } else {
    auto outcome = decide(*run);
    const auto answer = co_await settle(run, outcome);
    note_answer(*run, outcome, answer);
    forget(run);
  }
  if (returned) co_return;
  co_await run->finished.wait();
  --stuck_;
  services_.log.warn(
      "late_result_discarded",
      {{"job_id", run->job.id}, {"outcome", millrace::to_string(run->outcome.kind)}});
}

// Before its end was known to everybody, the first reason to stop decides.
Outcome Dispatcher::decide(JobRun& run) const {
  switch (run.cause) {
    case StopCause::timeout:
      return Outcome::retry("timeout", run.cancel.token().reason());
    case StopCause::cancel_requested:
      return Outcome::cancelled(run.cancel.token().reason());
    case StopCause::drain:
    case StopCause::lease_lost:
      return Outcome::handback(run.cancel.token().reason());
    case StopCause::none:
      break;
  }
  auto outcome = run.outcome;
  if (outcome.result_json.size() > kResultMaxBytes) {
    return Outcome::permanent(
        "result_too_large", fmt::format("the result has {} bytes, at most {} are kept; store it as "
                                        "a blob and return its key",
                                        outcome.result_json.size(), kResultMaxBytes));
  }
  if (outcome.succeeded() && outcome.effects_json.empty()) {
    outcome.effects_json = run.output.effects_json();
  }
  return outcome;
}

awaitable<Answer> Dispatcher::settle(Run run, Outcome outcome) {
  run->phase = JobRun::Phase::settling;
  if (run->reporting) co_await run->reported.wait();
  auto statements =
      outcome.succeeded() ? run->output.take_statements() : std::vector<SqlStatement>();
  Settlement settlement{.id = run->job.id,
                        .token = run->job.token,
                        .outcome = std::move(outcome),
                        .logs = run->output.take_last_logs()};
  if (statements.empty()) {
    co_return co_await services_.settler.settle(run->worker_id, std::move(settlement));
  }
  co_return co_await services_.settler.settle_with(run->worker_id, std::move(settlement),
                                                   std::move(statements));
}

awaitable<void> Dispatcher::settle_unstarted(Run run, Outcome outcome) {
  const auto answer = co_await settle(run, outcome);
  note_answer(*run, outcome, answer);
  forget(run);
}

void Dispatcher::note_answer(const JobRun& run, const Outcome& outcome, Answer answer) {
  MR_SOMETIMES(answer == Answer::already_settled, "settlement_found_done");
  MR_SOMETIMES(answer == Answer::lease_lost, "settlement_fenced");
  if (is_durable(answer)) {
    ++totals_.settled;
    services_.log.debug("job_settled", {{"job_id", run.job.id},
                                        {"job_type", run.job.job_type},
                                        {"tenant_id", run.job.tenant},
                                        {"cid", run.job.correlation_id},
                                        {"outcome", millrace::to_string(outcome.kind)}});
    return;
  }
  ++totals_.fenced;
  services_.log.warn("job_fenced", {{"job_id", run.job.id},
                                    {"token", run.job.token},
                                    {"worker_id", run.worker_id},
                                    {"outcome", millrace::to_string(outcome.kind)},
                                    {"answer", millrace::to_string(answer)}});
}

void Dispatcher::forget(const Run& run) {
  runs_.erase(run->job.token);
  changed_.set();
}

void Dispatcher::stop(JobRun& run, StopCause cause, std::string reason) {
  if (run.cause != StopCause::none || run.finished.is_set()) return;
  run.cause = cause;
  run.cancel.cancel(std::move(reason));
  run.stopped.set();
}

void Dispatcher::cancel(JobId id, LeaseToken token, std::string reason) {
  const auto found = runs_.find(token);
  if (found == runs_.end() || found->second->job.id != id) return;
  const auto run = found->second;
  if (reason.empty()) reason = "cancelled";
  if (run->phase == JobRun::Phase::running) {
    MR_SOMETIMES(true, "cancel_reached_running");
    stop(*run, StopCause::cancel_requested, std::move(reason));
  } else if (run->phase == JobRun::Phase::waiting && std::erase(waiting_, run) > 0) {
    tasks_.add("cancel job", settle_unstarted(run, Outcome::cancelled(reason)));
  }
}

// What is settling already goes on: the fence decides about it.
void Dispatcher::lose_all() {
  MR_SOMETIMES(!runs_.empty(), "jobs_lost_with_the_lease");
  for (const auto& run : std::exchange(waiting_, {})) {
    ++totals_.fenced;
    runs_.erase(run->job.token);
  }
  for (const auto& [token, run] : runs_) {
    if (run->phase == JobRun::Phase::running) stop(*run, StopCause::lease_lost, "lease_lost");
  }
  changed_.set();
}

void Dispatcher::hand_back_waiting() {
  draining_ = true;
  MR_SOMETIMES(!waiting_.empty(), "drain_returned_unstarted");
  for (const auto& run : std::exchange(waiting_, {})) {
    tasks_.add("return job", settle_unstarted(run, Outcome::handback("the worker is draining")));
  }
}

void Dispatcher::stop_all(std::string reason) {
  MR_SOMETIMES(!runs_.empty(), "drain_stopped_running");
  for (const auto& [token, run] : runs_) {
    if (run->phase == JobRun::Phase::running) stop(*run, StopCause::drain, reason);
  }
}

void Dispatcher::return_aged(Clock::Steady now) {
  const auto aged = [&](const Run& run) {
    return now - run->accepted_at > options_.prefetch_age_max;
  };
  std::vector<Run> returned;
  std::ranges::copy_if(waiting_, std::back_inserter(returned), aged);
  if (returned.empty()) return;
  MR_SOMETIMES(true, "prefetch_returned_aged");
  std::erase_if(waiting_, aged);
  // The slots are busy with something long: no more prefetch until short jobs are seen again.
  average_run_ms_ =
      std::max(average_run_ms_, 2.0 * static_cast<double>(options_.prefetch_run_max.count()));
  services_.log.debug("prefetch_returned", {{"jobs", returned.size()}});
  for (auto& run : returned) {
    tasks_.add("return job", settle_unstarted(run, Outcome::handback("waited for a slot")));
  }
}

awaitable<void> Dispatcher::look_after_leases() {
  const auto now = services_.clock.now();
  return_aged(now);
  std::map<std::string, std::vector<Run>> near;
  for (const auto& [token, run] : runs_) {
    if (run->cause == StopCause::lease_lost) continue;
    if (run->lease_until - now < options_.lease / 3) near[run->worker_id].push_back(run);
  }
  for (auto& [worker_id, runs] : near) co_await extend(worker_id, std::move(runs));
}

awaitable<void> Dispatcher::extend(std::string worker_id, std::vector<Run> runs) {
  std::vector<store::HeldLease> leases;
  for (const auto& run : runs) leases.push_back({.id = run->job.id, .token = run->job.token});
  const auto asked_at = services_.clock.now();  // Our view must never outlast the database's.
  auto answers = co_await services_.store.extend_leases(worker_id, leases, options_.lease);
  if (!answers.has_value()) {
    services_.log.warn("leases_not_extended",
                       {{"jobs", leases.size()}, {"error", answers.error().describe()}});
    co_return;
  }
  // By position: two deliveries of one job may be held, the older one still settling.
  for (std::size_t i = 0; i < answers->size() && i < runs.size(); ++i) {
    const auto& answer = (*answers)[i];
    const auto& run = runs[i];
    MR_SOMETIMES(answer.extended, "lease_extended");
    if (answer.extended) {
      run->lease_until = asked_at + options_.lease;
      if (answer.cancel_requested) cancel(run->job.id, run->job.token, "cancelled");
    } else if (run->phase == JobRun::Phase::running) {
      stop(*run, StopCause::lease_lost, "lease_lost");
    } else if (run->phase == JobRun::Phase::waiting && std::erase(waiting_, run) > 0) {
      ++totals_.fenced;
      forget(run);
    }
  }
}

}  // namespace millrace::worker
