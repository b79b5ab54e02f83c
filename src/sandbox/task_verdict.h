// judge: how a task ended, out of what its child said, how the process ended, and why we killed it.
//
// What we did comes first (limits, cancel, broken frames), then what the kernel did (signals), then
// what the child said of itself: it may lie about everything but its death.
#pragma once

#include "sandbox/frame.h"
#include "sandbox/task_spec.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace millrace::sandbox {

// Why the child was killed by us.
struct TaskStop {
  TaskResult::End end;
  std::string code;
  std::string message;
};

struct TaskFacts {
  TaskLimits limits = {};
  FrameReader::Said said = {};
  std::optional<TaskStop> stop = {};
  std::uint64_t warm_rss_bytes = 0;  // What a child has before it does anything.
  int wait_status = 0;
  bool ran_out = false;  // Its cgroup was full.
  std::uint64_t peak_rss_bytes = 0;
  std::chrono::microseconds cpu_time{0};
};

TaskResult judge(TaskFacts facts);

// Of a frame reader's fault; none means nothing to stop for.
std::optional<TaskStop> stop_for(const FrameReader& reader);

// RLIMIT_CPU knows seconds only.
std::uint64_t whole_seconds(std::chrono::milliseconds time);

}  // namespace millrace::sandbox
