#include "worker/reporter.h"

#include "base/either.h"
#include "worker/pause.h"

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::worker {

using namespace either;

namespace {

// What is said within this time goes in one report: nobody sees steps faster, and a job that ends
// before it tells them with its end.
constexpr std::chrono::milliseconds kGatherInterval{100};

store::ProgressItem item_of(const JobRun& run, const Progress& progress) {
  return {.id = run.job.id,
          .token = run.job.token,
          .percent = progress.percent,
          .message = progress.message,
          .data_json = progress.data_json};
}

}  // namespace

Reporter::Reporter(store::JobStore& store, Clock& clock, Logger& log,
                   std::chrono::milliseconds interval, OnCancel on_cancel)
    : store_(store),
      clock_(clock),
      log_(log),
      interval_(interval),
      on_cancel_(std::move(on_cancel)) {}

void Reporter::mark(std::weak_ptr<JobRun> run) {
  {
    const std::lock_guard lock(mutex_);
    marked_.push_back(std::move(run));
  }
  marked_event_.set();
}

void Reporter::hurry() { step_event_.set(); }

void Reporter::stop() {
  stopping_.set();
  step_event_.set();
}

Reporter::Runs Reporter::take_marked() {
  marked_event_.reset();
  step_event_.reset();
  std::vector<std::weak_ptr<JobRun>> marked;
  {
    const std::lock_guard lock(mutex_);
    marked.swap(marked_);
  }
  Runs runs;
  for (const auto& weak : marked) {
    // What a job says while it settles goes with its settlement.
    auto run = weak.lock();
    if (run && run->phase == JobRun::Phase::running) runs.push_back(std::move(run));
  }
  return runs;
}

awaitable<void> Reporter::run() {
  while (!stopping_.is_set()) {
    const bool gathered = marked_event_.is_set() && !step_event_.is_set();
    if (!marked_event_.is_set()) co_await (marked_event_.wait() || stopping_.wait());
    if (!gathered) co_await wait_for(clock_, stopping_, std::min(kGatherInterval, interval_));
    if (stopping_.is_set()) break;
    const auto begun = clock_.now();
    co_await report(take_marked());
    // Steps are told soon, all else by the interval.
    co_await wait_until(clock_, step_event_, begun + interval_);
  }
}

awaitable<void> Reporter::report(Runs runs) {
  // Whatever happens here, a job that ends must not wait for ever.
  struct Reporting {
    Runs runs;
    explicit Reporting(Runs taken) : runs(std::move(taken)) {
      for (const auto& run : runs) {
        run->reporting = true;
        run->reported.emplace();
      }
    }
    ~Reporting() {
      for (const auto& run : runs) {
        run->reporting = false;
        run->reported->set();
      }
    }
    Reporting(const Reporting&) = delete;
    Reporting& operator=(const Reporting&) = delete;
  };
  const Reporting reporting(std::move(runs));
  std::map<std::string, Runs> by_worker;  // More than one only after a lost process lease.
  for (const auto& run : reporting.runs) by_worker[run->worker_id()].push_back(run);
  for (auto& [worker_id, group] : by_worker) co_await report_of(worker_id, group);
}

awaitable<void> Reporter::report_of(std::string worker_id, Runs runs) {
  std::vector<store::ProgressItem> items;
  std::vector<store::JobLogItem> logs;
  std::vector<JobOutput::Report> reports;
  for (const auto& run : runs) {
    auto report = run->output.take_report();
    if (report.progress) report.steps.push_back(*std::move(report.progress));
    for (const auto& step : report.steps) items.push_back(item_of(*run, step));
    for (const auto& line : report.logs) {
      logs.push_back({.id = run->job.id, .token = run->job.token, .line = line});
    }
    reports.push_back(std::move(report));
  }
  if (!items.empty()) co_await send_progress(worker_id, std::move(items));
  if (logs.empty() || co_await send_logs(worker_id, std::move(logs))) co_return;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i]->output.put_back(std::move(reports[i].logs));
  }
}

awaitable<void> Reporter::report_steps(std::shared_ptr<JobRun> run) {
  std::vector<store::ProgressItem> items;
  for (const auto& step : run->output.take_steps()) items.push_back(item_of(*run, step));
  if (!items.empty()) co_await send_progress(run->worker_id(), std::move(items));
}

awaitable<void> Reporter::send_progress(std::string worker_id,
                                        std::vector<store::ProgressItem> items) {
  std::map<JobId, LeaseToken> tokens;
  for (const auto& item : items) tokens[item.id] = item.token;
  auto answers = co_await store_.report_progress(std::move(worker_id), std::move(items));
  if (!answers.has_value()) {
    log_.warn("progress_not_stored", {{"error", answers.error().describe()}});
    co_return;
  }
  for (const auto& answer : *answers) {
    if (answer.cancel_requested) on_cancel_(answer.id, tokens[answer.id]);
  }
}

awaitable<bool> Reporter::send_logs(std::string worker_id, std::vector<store::JobLogItem> items) {
  const auto lines = items.size();
  auto stored = co_await store_.append_logs(std::move(worker_id), std::move(items));
  if (stored.has_value()) co_return true;
  log_.warn("job_logs_not_stored", {{"lines", lines}, {"error", stored.error().describe()}});
  // In doubt they may be there; twice would be worse than not at all.
  co_return stored.error().kind != ErrorKind::unavailable;
}

}  // namespace millrace::worker
