// Process: a started program, leader of its own process group, with our ends of its pipes.
//
// Flow: Process::start resolves the program, opens the pipes, forks and executes; Child reads the
// pipes and waits until the pidfd is readable; reap() then kills the rest of the group and says how
// the leader ended. Only async-signal-safe calls happen between fork and exec, so the parent may
// have threads. A failure between fork and exec comes through a pipe of its own and is told apart
// from every exit code of the program. Threading: none of its own. Lifetime: the destructor kills
// the group and reaps the leader.
#pragma once

#include "base/result.h"
#include "sandbox/child_spec.h"
#include "sandbox/unique_fd.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace millrace::sandbox {

// How the leader ended: one of the two is set.
struct Ending {
  std::optional<int> exit_code;
  std::optional<int> signal;
};

class Process {
 public:
  // Descriptor 3 of the program is `control_fd`, or without one the write end of a pipe.
  static Result<Process> start(const ChildSpec& spec, UniqueFd control_fd = {});

  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  // Our ends, for the caller to keep. The pidfd is readable once the leader has ended; the others
  // are the read ends of pipes, non-blocking.
  UniqueFd take_pidfd() { return std::move(pidfd_); }
  UniqueFd take_stdout() { return std::move(stdout_); }
  UniqueFd take_stderr() { return std::move(stderr_); }
  UniqueFd take_control() { return std::move(control_); }

  pid_t pid() const { return pid_; }
  bool has_ended() const;  // The leader. Not after reap().

  // To the whole group, and to the leader should it have left its group. Not after reap().
  void send_signal(int signal) const;

  // Kills what is left of the group, then collects the leader; waits if it has not ended yet.
  // An error: the program was never executed, and why.
  Result<Ending> reap();

 private:
  Process() = default;

  pid_t pid_ = -1;  // -1 once reaped: the number may belong to somebody else from then on.
  std::string file_;
  std::string cwd_;
  UniqueFd pidfd_;
  UniqueFd stdout_;
  UniqueFd stderr_;
  UniqueFd control_;
  UniqueFd report_;  // Read end of the pipe that says what failed before exec.
};

}  // namespace millrace::sandbox
