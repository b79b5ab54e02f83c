#include "worker/job_output.h"

#include "base/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::worker {

JobOutput::JobOutput(const Clock& clock, LogCap cap, std::function<void()> on_change,
                     std::function<void()> on_step)
    : clock_(clock), cap_(cap), on_change_(std::move(on_change)), on_step_(std::move(on_step)) {}

void JobOutput::changed(std::unique_lock<std::mutex> lock) {
  const bool first = !std::exchange(dirty_, true);
  lock.unlock();
  if (first && on_change_) on_change_();
}

const Progress* JobOutput::last_said() const {
  if (progress_) return &*progress_;
  if (!steps_.empty()) return &steps_.back();
  return progress_taken_ ? &*progress_taken_ : nullptr;
}

void JobOutput::set_progress(Progress progress) {
  used_ = true;
  progress.percent = std::clamp(progress.percent, 0, 100);
  std::unique_lock lock(mutex_);
  const auto* last = last_said();
  if (last != nullptr && *last == progress) return;
  progress_ = std::move(progress);
  changed(std::move(lock));
}

void JobOutput::add_step(Progress step) {
  used_ = true;
  step.percent = std::clamp(step.percent, 0, 100);
  std::unique_lock lock(mutex_);
  const auto* last = last_said();
  if (last != nullptr && *last == step) return;
  if (steps_said_ == kStepsMax) {
    progress_ = std::move(step);
    changed(std::move(lock));
    return;
  }
  ++steps_said_;
  progress_.reset();  // The step is further on.
  const bool first = steps_.empty();
  steps_.push_back(std::move(step));
  changed(std::move(lock));
  if (first && on_step_) on_step_();
}

void JobOutput::add_log(LogLevel level, std::string_view message) {
  used_ = true;
  const auto at = clock_.wall();
  auto text = storable_text(redact_text(message), cap_.line_bytes_max);
  std::unique_lock lock(mutex_);
  if (lines_ >= cap_.lines_max || bytes_ + text.size() > cap_.bytes_max) {
    ++dropped_;
    return;
  }
  ++lines_;
  bytes_ += text.size();
  logs_.push_back({.level = level, .message = std::move(text), .at = at});
  changed(std::move(lock));
}

void JobOutput::add_job(json::Object spec) {
  used_ = true;
  const std::lock_guard lock(mutex_);
  jobs_.emplace_back(std::move(spec));
}

void JobOutput::add_event(std::string_view kind, json::Value data) {
  used_ = true;
  json::Object event;
  event["kind"] = kind;
  event["data"] = std::move(data);
  const std::lock_guard lock(mutex_);
  events_.emplace_back(std::move(event));
}

void JobOutput::add_statements(std::vector<SqlStatement> statements) {
  used_ = true;
  const std::lock_guard lock(mutex_);
  std::ranges::move(statements, std::back_inserter(statements_));
}

JobOutput::Report JobOutput::take_report() {
  const std::lock_guard lock(mutex_);
  dirty_ = false;
  if (const auto* last = last_said()) progress_taken_ = *last;
  return {.steps = std::exchange(steps_, {}),
          .progress = std::exchange(progress_, std::nullopt),
          .logs = std::exchange(logs_, {})};
}

bool JobOutput::has_steps() const {
  const std::lock_guard lock(mutex_);
  return !steps_.empty();
}

std::vector<Progress> JobOutput::take_steps() {
  const std::lock_guard lock(mutex_);
  return std::exchange(steps_, {});
}

void JobOutput::put_back(std::vector<JobLogLine> logs) {
  if (logs.empty()) return;
  std::unique_lock lock(mutex_);
  std::ranges::move(logs_, std::back_inserter(logs));
  logs_ = std::move(logs);
  changed(std::move(lock));
}

std::vector<JobLogLine> JobOutput::take_last_logs() {
  const auto at = clock_.wall();
  const std::lock_guard lock(mutex_);
  auto logs = std::exchange(logs_, {});
  if (dropped_ > 0) {
    logs.push_back(
        {.level = LogLevel::warn,
         .message = fmt::format("{} more log lines dropped (a job keeps {} lines, {} bytes)",
                                dropped_, cap_.lines_max, cap_.bytes_max),
         .at = at});
    dropped_ = 0;
  }
  return logs;
}

std::string JobOutput::effects_json() const {
  const std::lock_guard lock(mutex_);
  json::Object effects;
  if (!jobs_.empty()) effects["jobs"] = jobs_;
  if (!events_.empty()) effects["events"] = events_;
  return effects.empty() ? std::string() : to_json(effects);
}

bool JobOutput::has_statements() const {
  const std::lock_guard lock(mutex_);
  return !statements_.empty();
}

std::vector<SqlStatement> JobOutput::take_statements() {
  const std::lock_guard lock(mutex_);
  return std::exchange(statements_, {});
}

}  // namespace millrace::worker
