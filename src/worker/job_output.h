// JobOutput: what a running handler has said so far and nobody has stored yet.
//
// Flow: the handler, on any thread, adds progress, log lines and effects; the Reporter takes
// progress and lines from time to time, the Dispatcher takes the rest when the handler has ended.
// Of progress only the latest counts, but a step is told for itself, soon and in its order.
// Bounded: one progress, a number of steps, and log lines up to the cap; what is beyond is counted
// and named in a last line. Threading: all members from any thread.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "model/settlement.h"
#include "worker/options.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::worker {

struct Progress {
  int percent = 0;
  std::string message;
  std::string data_json;

  friend bool operator==(const Progress&, const Progress&) = default;
};

class JobOutput {
 public:
  // More are progress like any other: nobody follows a hundred steps one by one.
  static constexpr int kStepsMax = 16;

  // `on_change` is called, without a lock, when something new is there to be stored after nothing
  // was, and `on_step` when the first of it that is a step is; they must be thread-safe.
  JobOutput(const Clock& clock, LogCap cap, std::function<void()> on_change,
            std::function<void()> on_step = {});

  // Something was ever said. Most handlers say nothing, and then nobody need look.
  bool used() const { return used_.load(std::memory_order_acquire); }

  void set_progress(Progress progress);
  void add_step(Progress step);
  void add_log(LogLevel level, std::string_view message);
  void add_job(json::Object spec);
  void add_event(std::string_view kind, json::Value data);
  void add_statements(std::vector<SqlStatement> statements);

  struct Report {
    std::vector<Progress> steps;       // In their order, before `progress`.
    std::optional<Progress> progress;  // Only when it changed since the last one taken.
    std::vector<JobLogLine> logs;
  };
  Report take_report();
  bool has_steps() const;
  bool has_statements() const;
  std::vector<Progress> take_steps();
  // The lines of a report that could not be stored.
  void put_back(std::vector<JobLogLine> logs);
  // Everything left, with a line about what was dropped.
  std::vector<JobLogLine> take_last_logs();
  std::string effects_json() const;  // Empty when there are none.
  void set_asked(bool asked) { asked_nobody_.store(!asked, std::memory_order_release); }
  bool asked_nobody() const { return asked_nobody_.load(std::memory_order_acquire); }
  std::vector<SqlStatement> take_statements();

 private:
  void changed(std::unique_lock<std::mutex> lock);
  const Progress* last_said() const;  // Under the lock.

  const Clock& clock_;
  const LogCap cap_;
  const std::function<void()> on_change_;
  const std::function<void()> on_step_;

  std::atomic<bool> used_ = false;
  std::atomic<bool> asked_nobody_ = false;

  mutable std::mutex mutex_;  // Guards all below.
  bool dirty_ = false;
  std::vector<Progress> steps_;
  int steps_said_ = 0;  // Taken or not.
  std::optional<Progress> progress_;
  std::optional<Progress> progress_taken_;
  std::vector<JobLogLine> logs_;
  std::size_t lines_ = 0;  // Kept so far, stored or not.
  std::size_t bytes_ = 0;
  std::size_t dropped_ = 0;
  json::Array jobs_;
  json::Array events_;
  std::vector<SqlStatement> statements_;
};

}  // namespace millrace::worker
