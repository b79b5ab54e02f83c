// JobOutput: what a running handler has said so far and nobody has stored yet.
//
// Flow: the handler, on any thread, adds progress, log lines and effects; the Reporter takes
// progress and lines from time to time, the Dispatcher takes the rest when the handler has ended.
// Bounded: one progress, and log lines up to the cap; what is beyond is counted and named in a last
// line. Threading: all members from any thread.
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
  // `on_change` is called, without a lock, when something new is there to be stored after nothing
  // was; it must be thread-safe.
  JobOutput(const Clock& clock, LogCap cap, std::function<void()> on_change);

  // Something was ever said. Most handlers say nothing, and then nobody need look.
  bool used() const { return used_.load(std::memory_order_acquire); }

  void set_progress(Progress progress);
  void add_log(LogLevel level, std::string_view message);
  void add_job(json::Object spec);
  void add_event(std::string_view kind, json::Value data);
  void add_statements(std::vector<SqlStatement> statements);

  struct Report {
    std::optional<Progress> progress;  // Only when it changed since the last one taken.
    std::vector<JobLogLine> logs;
  };
  Report take_report();
  // The lines of a report that could not be stored.
  void put_back(std::vector<JobLogLine> logs);
  // Everything left, with a line about what was dropped.
  std::vector<JobLogLine> take_last_logs();
  std::string effects_json() const;  // Empty when there are none.
  std::vector<SqlStatement> take_statements();

 private:
  void changed(std::unique_lock<std::mutex> lock);

  const Clock& clock_;
  const LogCap cap_;
  const std::function<void()> on_change_;

  std::atomic<bool> used_ = false;

  mutable std::mutex mutex_;  // Guards all below.
  bool dirty_ = false;
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
