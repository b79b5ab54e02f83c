#include "worker/dispatcher.h"

#include "base/fault.h"
#include "base/free_memory.h"
#include "base/history.h"
#include "worker/handlers/function_handler.h"
#include "worker/job_events.h"
#include "worker/pause.h"
#include "worker/run_watch.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_set>
#include <utility>

namespace millrace::worker {

namespace {

using std::chrono::milliseconds;

// How much one coroutine starts before everything else that is ready gets its turn.
constexpr int kBurstJobs = 100;
constexpr auto kBurstTime = milliseconds(1);
constexpr std::size_t kUnsettledMin = 4'000;
constexpr auto kTidyAfter = std::chrono::minutes(1);
constexpr std::size_t kFreedMin = 128;  // Fewer are not worth a walk over the heap.
constexpr std::size_t kResultMaxBytes = 256 * 1024;

std::size_t unsettled_max(const Options& options) {
  if (options.unsettled_max > 0) return static_cast<std::size_t>(options.unsettled_max);
  return std::max(kUnsettledMin, 4 * static_cast<std::size_t>(options.slots));
}

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

// What its claim took at the limits of a provider goes back with it.
Outcome unstarted(Outcome outcome) {
  outcome.asked_nobody = true;
  return outcome;
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
      unsettled_max_(unsettled_max(options)),
      tasks_(std::move(executor), services_.log),
      pool_([this] {
        return std::make_shared<JobRun>(
            services_.clock, options_.log_cap,
            [&reporter = services_.reporter](std::weak_ptr<JobRun> self) { reporter.mark(self); },
            [&reporter = services_.reporter] { reporter.hurry(); });
      }),
      prefetch_(options.slots, options.prefetch, options.prefetch_run_max) {}

// --- Holding ---

int Dispatcher::claimable() const {
  if (draining_ || !may_add_results()) return 0;
  // Nothing ahead, and the slots for what is not durable, while results cannot be stored.
  const bool failing = services_.settler.failing();
  const int ahead = failing ? 0 : prefetch_.ahead();
  const int busy = static_cast<int>(running_.size() + (failing ? unsettled_ : 0));
  const int have = static_cast<int>(waiting_.size());
  if (have > ahead / 2) return 0;  // Claim in batches, not one by one.
  return std::max(0, options_.slots + ahead - busy - have);
}

// Whoever waits for room is woken when there is some, and not by every job that ends.
void Dispatcher::note_room() {
  if (claimable() > 0) changed_.set();
}

Dispatcher::Run Dispatcher::make_run(ClaimedJob job, JobRun::WorkerId worker_id) {
  auto run = pool_.take();
  run->begin(std::move(job), std::move(worker_id));
  return run;
}

void Dispatcher::accept(std::vector<ClaimedJob> jobs, const store::WorkerKey& key,
                        Clock::Steady asked_at) {
  if (jobs.empty()) return;
  const auto now = services_.clock.now();
  const auto worker_id = std::make_shared<const std::string>(key.worker_id);
  prefetch_.note_accepted(now, waiting_.empty());
  log_claimed(services_.log, jobs);
  for (auto& job : jobs) {
    auto run = make_run(std::move(job), worker_id);
    run->accepted_at = now;
    run->lease_until = asked_at + run->job.lease;
    runs_.add(run);
    waiting_.push_back(std::move(run));
  }
  start_waiting(now);
}

void Dispatcher::return_unused(std::vector<ClaimedJob> jobs, const store::WorkerKey& key) {
  MR_SOMETIMES(!jobs.empty(), "claimed_too_late");
  return_jobs(std::move(jobs), key);
}

void Dispatcher::return_jobs(std::vector<ClaimedJob> jobs, const store::WorkerKey& key) {
  const auto worker_id = std::make_shared<const std::string>(key.worker_id);
  for (auto& job : jobs) {
    auto run = make_run(std::move(job), worker_id);
    run->lease_until = Clock::Steady::max();  // Not to be extended: the sooner it ends the better.
    runs_.add(run);
    settle(std::move(run), unstarted(Outcome::handback("not started")));
  }
}

void Dispatcher::return_unheld(const std::vector<store::HeldLease>& leases,
                               const store::WorkerKey& key) {
  const auto tokens = held_tokens();
  const std::unordered_set<LeaseToken> held(tokens.begin(), tokens.end());
  std::vector<ClaimedJob> jobs;
  for (const auto& lease : leases) {
    MR_ALWAYS(!held.contains(lease.token), "unheld_is_not_held");
    auto& job = jobs.emplace_back();
    job.id = lease.id;
    job.token = lease.token;
  }
  return_jobs(std::move(jobs), key);
}

std::vector<LeaseToken> Dispatcher::held_tokens() const {
  std::vector<LeaseToken> held;
  held.reserve(runs_.size());
  for (const auto& run : runs_) held.push_back(run->job.token);
  return held;
}

void Dispatcher::forget(Run run) {
  runs_.take(*run);
  pool_.keep(std::move(run));
}

// --- Running ---

// While results cannot be stored, every one of them counts as a slot.
bool Dispatcher::may_add_results() const {
  if (unsettled_ >= unsettled_max_) return false;
  if (!services_.settler.failing()) return true;
  return running_.size() + unsettled_ < static_cast<std::size_t>(options_.slots);
}

bool Dispatcher::may_start(Clock::Steady now) const {
  return !draining_ && !waiting_.empty() &&
         running_.size() < static_cast<std::size_t>(options_.slots) && may_add_results() &&
         services_.leased(now);
}

bool Dispatcher::more_ends_at_once() const {
  return prefetch_.ends_at_once() && may_start(services_.clock.now());
}

void Dispatcher::start_waiting(Clock::Steady now) {
  if (starting_ || !may_start(now)) return;
  starting_ = true;
  tasks_.add("jobs", run_waiting());
}

awaitable<void> Dispatcher::run_waiting() {
  // After everything that is ready now: a new coroutine would begin within the one that made it.
  co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
  starting_ = false;
  const auto begun = services_.clock.now();
  auto now = begun;
  for (int ran = 0; ran < kBurstJobs && now - begun < kBurstTime && may_start(now); ++ran) {
    auto& run = begin_next(now);
    if (run.entry == nullptr) {
      settle(running_.take(run), unstarted(Outcome::handback("no handler for this type")));
      continue;
    }
    start_waiting(now);  // For when this handler has to wait for something.
    try {
      run.outcome = co_await run.entry->handler->run(
          std::shared_ptr<JobContext>(run.shared_from_this(), &*run.context));
    } catch (...) {
      run.outcome = outcome_of_exception(std::current_exception());
    }
    now = services_.clock.now();
    end_run(run, now);
  }
  start_waiting(now);
}

// The next of those that wait, ready to be run; without an entry when nobody can.
JobRun& Dispatcher::begin_next(Clock::Steady now) {
  auto& run = running_.add(std::move(waiting_.front()));
  waiting_.pop_front();
  prefetch_.note_started(now, !waiting_.empty());
  note_room();
  run.phase = JobRun::Phase::running;
  run.entry = handlers_.find(run.job.job_type);
  if (run.entry == nullptr) {
    services_.log.error("job_without_handler",
                        {{"job_id", run.job.id}, {"job_type", run.job.job_type}});
    return run;
  }
  const auto run_timeout = run_timeout_of(run.job, *run.entry);
  run.started_at = now;
  if (options_.watch != nullptr) note_begin(run);
  run.context.emplace(JobContext::Parts{.job = run.job,
                                        .output = run.output,
                                        .token = run.cancel.token(),
                                        .clock = services_.clock,
                                        .deadline = now + run_timeout,
                                        .run_timeout = run_timeout});
  set_deadline(run, now + run.entry->handler->wait_limit(run_timeout));
  note_run(run, "start");
  MR_FAULT("run.before");
  return run;
}

void Dispatcher::end_run(JobRun& run, Clock::Steady now) {
  MR_FAULT("run.after");
  note_run(run, "end");
  prefetch_.note_run(now - run.started_at);
  run.returned = true;
  if (!run.given_up) run.ended_at = now;
  auto owned = running_.take(run);
  if (run.given_up) {
    --stuck_;
    changed_.set();
    services_.log.warn(
        "late_result_discarded",
        {{"job_id", run.job.id}, {"outcome", millrace::to_string(run.outcome.kind)}});
    return;
  }
  finish(std::move(owned));
  note_room();
}

// Its handler has returned, or nobody waits for it any more.
void Dispatcher::finish(Run run) {
  if (run->cause == StopCause::lease_lost) {
    if (options_.watch != nullptr) note_end(*run, nullptr);
    ++totals_.fenced;
    forget(std::move(run));
    changed_.set();
    return;
  }
  auto outcome = decide(*run);
  outcome.asked_nobody = outcome.asked_nobody || run->output.asked_nobody();
  if (options_.watch != nullptr) note_end(*run, &outcome);
  settle(std::move(run), std::move(outcome));
}

void Dispatcher::note_begin(JobRun& run) const {
  auto own = options_.watch->begin_run(run.job);
  if (own) run.came_with = std::exchange(run.job.traceparent, *std::move(own));
}

void Dispatcher::note_end(const JobRun& run, const Outcome* outcome) const {
  options_.watch->end_run({.job = run.job,
                           .outcome = outcome,
                           .took = services_.clock.now() - run.started_at,
                           .came_with = run.came_with});
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
  auto outcome = std::move(run.outcome);
  if (outcome.result_json.size() > kResultMaxBytes) {
    return Outcome::permanent(
        "result_too_large", fmt::format("the result has {} bytes, at most {} are kept; store it as "
                                        "a blob and return its key",
                                        outcome.result_json.size(), kResultMaxBytes));
  }
  if (!run.output.used()) return outcome;
  if (outcome.succeeded() && outcome.effects_json.empty()) {
    outcome.effects_json = run.output.effects_json();
  }
  return outcome;
}

// --- Stopping ---

void Dispatcher::stop(JobRun& run, StopCause cause, std::string reason) {
  if (run.cause != StopCause::none || run.returned) return;
  run.cause = cause;
  run.cancel.cancel(std::move(reason));
  set_deadline(run, services_.clock.now() + run.entry->handler->stop_grace());
}

// Only one that is due before all others is news: with equal time-outs that is one in many.
void Dispatcher::set_deadline(JobRun& run, Clock::Steady deadline) {
  run.deadline = deadline;
  if (deadline >= next_deadline_) return;
  next_deadline_ = deadline;
  deadline_moved_.set();
}

// Looks at what runs only when something may be due: next_deadline_ may be that of a job which has
// ended long since.
awaitable<void> Dispatcher::watch_deadlines() {
  for (;;) {
    deadline_moved_.reset();
    if (next_deadline_ == Clock::Steady::max()) {
      co_await deadline_moved_.wait();
      continue;
    }
    if (co_await wait_until(services_.clock, deadline_moved_, next_deadline_)) continue;
    const auto now = services_.clock.now();
    for (const auto& run : running_.copy()) {
      if (!run->given_up && run->deadline <= now) expire(*run);
    }
    next_deadline_ = Clock::Steady::max();
    for (const auto& run : running_) {
      if (!run->given_up) next_deadline_ = std::min(next_deadline_, run->deadline);
    }
  }
}

void Dispatcher::expire(JobRun& run) {
  if (run.cause != StopCause::none) {
    give_up(run);
    return;
  }
  // What it has waited for its turn was not its own time.
  const auto run_timeout = run_timeout_of(run.job, *run.entry);
  const auto deadline =
      run.started_at + run.entry->handler->wait_limit(run_timeout) + run.context->waited();
  if (deadline > services_.clock.now()) {
    set_deadline(run, deadline);
    return;
  }
  stop(run, StopCause::timeout, fmt::format("the job ran longer than {} ms", run_timeout.count()));
}

// It keeps its slot until it really returns; its job does not wait for that.
void Dispatcher::give_up(JobRun& run) {
  run.given_up = true;
  run.ended_at = services_.clock.now();
  ++stuck_;
  services_.log.error(
      "handler_ignores_stop",
      {{"job_id", run.job.id}, {"job_type", run.job.job_type}, {"cause", to_string(run.cause)}});
  finish(run.shared_from_this());
  changed_.set();
}

void Dispatcher::cancel(JobId id, LeaseToken token, std::string reason) {
  const auto run = runs_.find(token);
  if (run == nullptr || run->job.id != id) return;
  if (reason.empty()) reason = "cancelled";
  if (run->phase == JobRun::Phase::running) {
    MR_SOMETIMES(true, "cancel_reached_running");
    stop(*run, StopCause::cancel_requested, std::move(reason));
  } else if (run->phase == JobRun::Phase::waiting && std::erase(waiting_, run) > 0) {
    settle(run, unstarted(Outcome::cancelled(reason)));
  }
}

// What is settling already goes on: the fence decides about it.
void Dispatcher::lose_all() {
  MR_SOMETIMES(!runs_.empty(), "jobs_lost_with_the_lease");
  for (const auto& run : std::exchange(waiting_, {})) {
    ++totals_.fenced;
    forget(run);
  }
  for (const auto& run : running_.copy()) stop(*run, StopCause::lease_lost, "lease_lost");
  changed_.set();
}

void Dispatcher::hand_back_waiting() {
  draining_ = true;
  MR_SOMETIMES(!waiting_.empty(), "drain_returned_unstarted");
  for (const auto& run : std::exchange(waiting_, {})) {
    settle(run, unstarted(Outcome::handback("the worker is draining")));
  }
}

void Dispatcher::stop_all(std::string reason) {
  MR_SOMETIMES(!runs_.empty(), "drain_stopped_running");
  for (const auto& run : running_.copy()) stop(*run, StopCause::drain, reason);
}

// --- Settling ---

void Dispatcher::settle(Run run, Outcome outcome) {
  run->phase = JobRun::Phase::settling;
  ++unsettled_;
  // Its lines are on the way, or its steps are still here: they would come too late.
  if (run->reporting || (run->output.used() && run->output.has_steps())) {
    tasks_.add("settle job", settle_when_reported(std::move(run), std::move(outcome)));
  } else {
    settle_now(std::move(run), std::move(outcome));
  }
}

awaitable<void> Dispatcher::settle_when_reported(Run run, Outcome outcome) {
  if (run->reporting) co_await run->reported->wait();
  // With statements they go along: nobody learns of them sooner by a transaction of their own.
  if (!outcome.succeeded() || !run->output.has_statements()) {
    co_await services_.reporter.report_steps(run);
  }
  settle_now(std::move(run), std::move(outcome));
}

void Dispatcher::settle_now(Run run, Outcome outcome) {
  Settlement settlement{
      .id = run->job.id, .token = run->job.token, .outcome = std::move(outcome), .logs = {}};
  std::vector<SqlStatement> statements;
  if (run->output.used()) {
    if (settlement.outcome.succeeded()) statements = run->output.take_statements();
    for (auto& step : statements.empty() ? std::vector<Progress>() : run->output.take_steps()) {
      settlement.steps.push_back({.percent = step.percent,
                                  .message = std::move(step.message),
                                  .data_json = std::move(step.data_json)});
    }
    settlement.logs = run->output.take_last_logs();
  }
  if (statements.empty()) {
    services_.settler.offer(std::move(run), std::move(settlement));
  } else {
    tasks_.add("settle job",
               settle_with(std::move(run), std::move(settlement), std::move(statements)));
  }
}

awaitable<void> Dispatcher::settle_with(Run run, Settlement settlement,
                                        std::vector<SqlStatement> statements) {
  const auto outcome = settlement.outcome.kind;
  const auto answer = co_await services_.settler.settle_with(
      run->worker_id(), std::move(settlement), std::move(statements));
  Settler::Answered one{.run = std::move(run), .outcome = outcome, .answer = answer};
  answered({&one, 1});
}

void Dispatcher::answered(std::span<Settler::Answered> answers) {
  for (auto& [run, outcome, answer] : answers) {
    --unsettled_;
    note_answer(*run, outcome, answer);
    if (on_ended_ && is_durable(answer)) on_ended_(run->job.queue);
    forget(std::move(run));
  }
  start_waiting(services_.clock.now());
  changed_.set();
}

void Dispatcher::tell_settled(const JobRun& run, Outcome::Kind outcome) const {
  SettledRun line{.job = run.job, .outcome = outcome};
  if (run.entry != nullptr) {
    line.ran = run.ended_at - run.started_at;
    line.persisting = services_.clock.now() - run.ended_at;
  }
  log_settled(services_.log, line);
}

void Dispatcher::note_answer(const JobRun& run, Outcome::Kind outcome, Answer answer) {
  MR_SOMETIMES(answer == Answer::already_settled, "settlement_found_done");
  MR_SOMETIMES(answer == Answer::lease_lost, "settlement_fenced");
  if (options_.watch != nullptr) options_.watch->settled(answer);
  if (is_durable(answer)) {
    ++totals_.settled;
    // The fields alone would cost too much.
    if (is_told(services_.log, run.job, outcome)) tell_settled(run, outcome);
    return;
  }
  ++totals_.fenced;
  services_.log.warn("job_fenced", {{"job_id", run.job.id},
                                    {"token", run.job.token},
                                    {"worker_id", run.worker_id()},
                                    {"outcome", millrace::to_string(outcome)},
                                    {"answer", millrace::to_string(answer)}});
}

// --- Leases ---

void Dispatcher::return_aged(Clock::Steady now) {
  const auto aged = [&](const Run& run) {
    return now - run->accepted_at > options_.prefetch_age_max;
  };
  std::vector<Run> returned;
  std::ranges::copy_if(waiting_, std::back_inserter(returned), aged);
  if (returned.empty()) return;
  MR_SOMETIMES(true, "prefetch_returned_aged");
  std::erase_if(waiting_, aged);
  if (waiting_.empty()) prefetch_.note_dry(now);
  prefetch_.note_aged();
  services_.log.debug("prefetch_returned", {{"jobs", returned.size()}});
  for (auto& run : returned)
    settle(std::move(run), unstarted(Outcome::handback("waited for a slot")));
}

awaitable<void> Dispatcher::look_after_leases() {
  const auto now = services_.clock.now();
  return_aged(now);
  start_waiting(now);
  // Whatever else comes and goes leaves holes in the heap as well, only more slowly.
  if (pool_.give_back() >= kFreedMin || now - tidied_at_ >= kTidyAfter) {
    tidied_at_ = now;
    return_free_memory();
  }
  std::map<std::string, std::vector<Run>> near;
  for (const auto& run : runs_) {
    if (run->cause == StopCause::lease_lost) continue;
    if (run->lease_until - now < options_.lease / 3) near[run->worker_id()].push_back(run);
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
