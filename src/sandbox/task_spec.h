// TaskSpec, TaskLimits and TaskResult: one task for a confined child and how it ended, as values.
#pragma once

#include "base/task.h"
#include "sandbox/unique_fd.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::sandbox {

inline constexpr std::size_t kTaskRequestMaxBytes = 1024 * 1024;
inline constexpr std::size_t kTaskFilesMax = 16;
inline constexpr std::size_t kTaskMessageMaxBytes = 1024;

// Bytes as the child sends them, in order, one call at a time. The child waits while the sink does,
// and its wall clock goes on. An error ends the task, and run() returns that error.
using ByteSink = std::function<Task<void>(std::span<const std::byte> bytes)>;
// Numbers that the child made up: 0 ≤ done ≤ total is checked, truth is not. Must not throw.
using ProgressSink = std::function<void(int done, int total)>;

// Told with true when the task has to wait for a place, with false when that is over. Must not
// throw. On the pool's thread.
using WaitSink = std::function<void(bool waiting)>;

struct TaskLimits {
  std::uint64_t memory_bytes = 1024ULL * 1024 * 1024;        // On top of what the warm program has.
  std::chrono::milliseconds cpu = std::chrono::seconds(60);  // Rounded up to seconds.
  std::chrono::milliseconds wall = std::chrono::seconds(120);
  std::uint64_t file_bytes = 0;  // Largest file it may write; there is none that it could open.
  std::uint64_t processes = 0;   // The jail refuses fork and threads anyway.
  std::uint64_t result_max_bytes = 8ULL * 1024 * 1024;
  std::uint64_t output_max_bytes = 64ULL * 1024 * 1024;  // Of all output together.
};

struct TaskSpec {
  std::string request;  // JSON, at most kTaskRequestMaxBytes.
  // Open for reading only, each opened for this task alone: the child shares their offsets.
  std::vector<UniqueFd> files;  // At most kTaskFilesMax.
  TaskLimits limits = {};
  ByteSink on_output = {};  // Without one, output is counted and dropped.
  ProgressSink on_progress = {};
  WaitSink on_wait = {};
};

struct TaskResult {
  enum class End {
    ok,              // `result` is the child's answer, untrusted.
    refused,         // The child says no; `code` is an ErrorKind, `message` the reason.
    crashed,         // A signal, a forbidden call, or no answer.
    out_of_memory,   // memory_bytes, or the kernel had no more.
    cpu_time,        // limits.cpu.
    timed_out,       // limits.wall.
    overflow,        // result_max_bytes or output_max_bytes.
    protocol,        // What it wrote are not frames.
    cancelled,       // By the token.
    cannot_confine,  // This machine cannot give the jail; no byte of a file was read.
  };

  End end = End::crashed;
  std::string result = {};  // Only with ok.
  // For programs: forbidden_call, signal, no_result, result_too_large, output_too_large, … One
  // word; with `refused` the ErrorKind.
  std::string code = {};
  std::string message = {};  // For people: one line, at most kTaskMessageMaxBytes.
  std::optional<int> signal = {};
  std::uint64_t peak_rss_bytes = 0;  // With the pages shared with the warm program.
  std::chrono::microseconds cpu_time{0};

  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

std::string_view to_string(TaskResult::End end);

// What counts towards poison: the input did this, not the machine and not the caller.
bool blames_the_input(TaskResult::End end);

}  // namespace millrace::sandbox
