#include "pipeline/task_outcome.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>

namespace millrace::pipeline {
namespace {

using sandbox::TaskResult;
using namespace std::chrono_literals;

Outcome crashed(std::string_view error_type, std::string message) {
  auto outcome = Outcome::retry(error_type, message);
  outcome.crash = true;
  return outcome;
}

}  // namespace

std::optional<Outcome> failed_task(const Result<TaskResult>& task, std::string_view what) {
  if (!task) return outcome_of(task.error(), what);
  const auto message = fmt::format("{}: {}", what, task->message);
  switch (task->end) {
    case TaskResult::End::ok:
      return std::nullopt;
    case TaskResult::End::refused:
      if (task->code == to_string(ErrorKind::invalid_argument)) {
        return Outcome::permanent("document_refused", message);
      }
      return Outcome::retry("reader_failed", message);
    case TaskResult::End::crashed:
      // Our own kills are told apart from this one: it came from outside (an operator, the kernel
      // when the machine is out of memory), and the document may be innocent.
      if (task->signal == SIGKILL) return Outcome::retry("reader_killed", message);
      return crashed("reader_crashed", message);
    case TaskResult::End::out_of_memory:
      return crashed("reader_out_of_memory", message);
    case TaskResult::End::cpu_time:
      return crashed("reader_cpu_time", message);
    case TaskResult::End::timed_out:
      return crashed("reader_timed_out", message);
    case TaskResult::End::overflow:
      return crashed("reader_output_too_large", message);
    case TaskResult::End::protocol:
      return crashed("reader_protocol", message);
    case TaskResult::End::cancelled:
      return Outcome::cancelled(message);
    case TaskResult::End::cannot_confine:
      // Nothing was read. Another machine may be able to, or an operator mends this one.
      return Outcome::held_up(message, 30s);
  }
  return Outcome::retry("reader_failed", message);
}

Outcome outcome_of(const Error& error, std::string_view what) {
  const auto message = fmt::format("{}: {}", what, error.describe());
  switch (error.kind) {
    case ErrorKind::unavailable:
    case ErrorKind::throttled:
    case ErrorKind::in_doubt:
      return Outcome::held_up(message, 1s);
    case ErrorKind::cancelled:
    case ErrorKind::lease_lost:
      return Outcome::cancelled(message);
    case ErrorKind::not_found:
      return Outcome::permanent("content_missing", message);
    case ErrorKind::invalid_argument:
    case ErrorKind::conflict:
      return Outcome::permanent("invalid_result", message);
    case ErrorKind::internal:
      return Outcome::retry("internal", message);
  }
  return Outcome::retry("internal", message);
}

}  // namespace millrace::pipeline
