// What a worker process is told by its configuration.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace millrace::worker {

class RunWatch;

struct QueueChoice {
  std::string name;
  int weight = 1;  // Share of the slots while several queues have work.
};

// What is kept of a handler's log lines, per job.
struct LogCap {
  std::size_t lines_max = 256;
  std::size_t bytes_max = 64 * 1024;
  std::size_t line_bytes_max = 4 * 1024;
};

struct Options {
  // Names for people: the id of a process is prefix, host, pid and something random.
  std::string worker_id_prefix = "millrace";
  std::string supervisor_id;  // Of the parent in supervisor mode; empty otherwise.
  std::string host = "localhost";
  int pid = 0;
  std::string version;

  int slots = 10;
  std::vector<QueueChoice> queues = {{.name = "default"}};
  // Most jobs held beyond the slots, so that a free slot need not wait for a round trip. How many
  // there are follows from what the process gets done in a moment (prefetch.h); none while jobs are
  // long; given back when they wait too long.
  int prefetch = 2'000;
  std::chrono::milliseconds prefetch_age_max{2'000};
  std::chrono::milliseconds prefetch_run_max{500};  // Longer jobs on average: no prefetch.

  // Nothing is started while so many results wait to become durable. 0: four per slot, at least
  // 4000.
  int unsettled_max = 0;

  std::chrono::milliseconds lease{30'000};
  std::chrono::milliseconds beat_interval{2'000};  // Never more than a third of the lease.
  std::chrono::milliseconds poll_interval{1'000};
  std::chrono::milliseconds rescan_interval{250};  // Between claims that look at everything.
  std::chrono::milliseconds report_interval{1'000};
  LogCap log_cap;

  std::chrono::milliseconds drain_timeout{30'000};
  std::chrono::milliseconds settle_timeout{10'000};  // For the last results when draining.
  std::chrono::milliseconds kill_timeout{500};       // For saying goodbye when killed.
  std::chrono::milliseconds alone_session_max{5'000};

  // Called on the runtime's executor when a notification came: the keeper may have something to do.
  std::function<void()> on_hint;
  // Called on the runtime's executor each time the process has a (new) identity.
  std::function<void(const std::string& worker_id)> on_registered;
  // Told of every run, on the runtime's executor; outlives the runtime. Nothing: nobody is told.
  RunWatch* watch = nullptr;
};

}  // namespace millrace::worker
