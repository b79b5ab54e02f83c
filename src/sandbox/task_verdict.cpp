#include "sandbox/task_verdict.h"

#include "sandbox/syscall_filter.h"
#include "sandbox/task_child.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <utility>

namespace millrace::sandbox {
namespace {

using End = TaskResult::End;

void set(TaskResult& result, End end, std::string code, std::string message) {
  result.end = end;
  result.code = std::move(code);
  result.message = std::move(message);
}

void set_memory(TaskResult& result, const TaskLimits& limits) {
  set(result, End::out_of_memory, "memory_limit",
      fmt::format("more than {} MiB of memory", limits.memory_bytes / (1024 * 1024)));
}

void set_forbidden(TaskResult& result, std::optional<std::uint32_t> call) {
  result.signal = SIGSYS;
  set(result, End::crashed, "forbidden_call",
      call ? fmt::format("made the system call {}, which is not allowed", syscall_name(*call))
           : "made a system call that is not allowed");
}

// A C library that gets no memory often just crashes. Then only the size tells.
bool was_full(const TaskFacts& facts) {
  const std::uint64_t full = facts.warm_rss_bytes + facts.limits.memory_bytes / 10 * 9;
  return facts.ran_out || facts.said.memory_short || facts.peak_rss_bytes >= full;
}

void judge_signal(const TaskFacts& facts, int signal, TaskResult& result) {
  result.signal = signal;
  const auto limit = std::chrono::seconds(whole_seconds(facts.limits.cpu));
  if (signal == SIGXCPU || (signal == SIGKILL && facts.cpu_time >= limit)) {
    return set(result, End::cpu_time, "cpu_limit",
               fmt::format("more than {} s of CPU time", limit.count()));
  }
  if (signal == SIGSYS) return set_forbidden(result, {});
  if (was_full(facts)) return set_memory(result, facts.limits);
  // By a person, or by the kernel, which takes tasks first when others have used up the memory.
  if (signal == SIGKILL) return set(result, End::crashed, "killed", "killed from outside");
  const char* const name = ::sigdescr_np(signal);
  set(result, End::crashed, "signal",
      fmt::format("ended by signal {} ({})", signal, name == nullptr ? "unknown" : name));
}

void judge_exit(TaskFacts& facts, int exit_code, TaskResult& result) {
  auto& said = facts.said;
  if (said.forbidden_call || exit_code == kForbiddenExit) {
    return set_forbidden(result, said.forbidden_call);
  }
  if (said.cannot_confine) {
    return set(result, End::cannot_confine, "cannot_confine", *std::move(said.cannot_confine));
  }
  if (said.out_of_memory) return set_memory(result, facts.limits);
  if (exit_code == 0 && said.result) {
    result.end = End::ok;
    result.result = *std::move(said.result);
    return;
  }
  if (exit_code == 0 && said.refused_code) {
    return set(result, End::refused, *std::move(said.refused_code),
               std::move(said.refused_message));
  }
  if (said.memory_short) return set_memory(result, facts.limits);
  set(result, End::crashed, "no_result",
      fmt::format("ended with code {} and no result", exit_code));
}

}  // namespace

TaskResult judge(TaskFacts facts) {
  TaskResult result;
  result.peak_rss_bytes = facts.peak_rss_bytes;
  result.cpu_time = facts.cpu_time;
  if (facts.stop) {
    if (WIFSIGNALED(facts.wait_status)) result.signal = WTERMSIG(facts.wait_status);
    set(result, facts.stop->end, std::move(facts.stop->code), std::move(facts.stop->message));
  } else if (WIFSIGNALED(facts.wait_status)) {
    judge_signal(facts, WTERMSIG(facts.wait_status), result);
  } else {
    judge_exit(facts, WEXITSTATUS(facts.wait_status), result);
  }
  return result;
}

std::optional<TaskStop> stop_for(const FrameReader& reader) {
  switch (reader.fault()) {
    case FrameReader::Fault::none:
      return {};
    case FrameReader::Fault::malformed:
      return TaskStop{End::protocol, "malformed_frame", reader.fault_message()};
    case FrameReader::Fault::result_too_large:
      return TaskStop{End::overflow, "result_too_large", reader.fault_message()};
    case FrameReader::Fault::output_too_large:
      return TaskStop{End::overflow, "output_too_large", reader.fault_message()};
  }
  return {};
}

std::uint64_t whole_seconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace millrace::sandbox
