// exec_child: the child's side between fork and exec.
//
// The parent may have threads whose locks the child has copied in any state, so everything here was
// prepared by the parent and only async-signal-safe calls are made: no allocation, no logging.
#pragma once

#include <span>
#include <sys/resource.h>
#include <sys/types.h>

namespace millrace::sandbox {

struct Limit {
  int resource;
  rlim_t soft;
  rlim_t hard;
};

// All descriptors are above 4; the child gets them as 0, 1, 2, 3 and, until exec, 4.
struct ExecPlan {
  const char* file;
  char* const* argv;
  char* const* envp;
  const char* cwd;  // nullptr: stay.
  std::span<const Limit> limits;
  pid_t parent;
  bool own_session;  // Else a process group of its own.
  int stdin_fd;
  int stdout_fd;
  int stderr_fd;
  int control_fd;
  int report_fd;
};

enum class ExecStep : int { set_up, directory, limits, exec };

// Written to report_fd when the program could not be executed.
struct ExecReport {
  ExecStep step;
  int error;
};

[[noreturn]] void exec_child(const ExecPlan& plan) noexcept;

}  // namespace millrace::sandbox
