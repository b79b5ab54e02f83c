#include "sandbox/task_spec.h"

namespace millrace::sandbox {

std::string_view to_string(TaskResult::End end) {
  switch (end) {
    case TaskResult::End::ok:
      return "ok";
    case TaskResult::End::refused:
      return "refused";
    case TaskResult::End::crashed:
      return "crashed";
    case TaskResult::End::out_of_memory:
      return "out_of_memory";
    case TaskResult::End::cpu_time:
      return "cpu_time";
    case TaskResult::End::timed_out:
      return "timed_out";
    case TaskResult::End::overflow:
      return "overflow";
    case TaskResult::End::protocol:
      return "protocol";
    case TaskResult::End::cancelled:
      return "cancelled";
    case TaskResult::End::cannot_confine:
      return "cannot_confine";
  }
  return "unknown";
}

bool blames_the_input(TaskResult::End end) {
  switch (end) {
    case TaskResult::End::crashed:
    case TaskResult::End::out_of_memory:
    case TaskResult::End::cpu_time:
    case TaskResult::End::timed_out:
    case TaskResult::End::overflow:
    case TaskResult::End::protocol:
      return true;
    case TaskResult::End::ok:
    case TaskResult::End::refused:
    case TaskResult::End::cancelled:
    case TaskResult::End::cannot_confine:
      return false;
  }
  return false;
}

}  // namespace millrace::sandbox
