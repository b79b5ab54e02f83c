// Process: start, watch and signal one process of the private PostgreSQL.
//
// A process is watched through a pidfd, so a recycled process number is never signalled, and a
// postmaster that somebody else started (adoption) is watched like a child of our own.
// Blocking; one thread at a time.
#pragma once

#include "base/result.h"
#include "cluster/os_user.h"
#include "cluster/unique_fd.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace millrace::cluster {

// Where SpawnSpec::directory_fd lies in the child.
inline constexpr int kInheritedDirectoryFd = 9;

struct SpawnSpec {
  std::vector<std::string> argv;  // argv[0] is the program's path.
  std::optional<OsUser> user;     // Whom to become; ignored unless we are root.
  int output_fd = -1;             // Standard output and error; /dev/null if negative.
  int directory_fd = -1;          // Inherited as kInheritedDirectoryFd.
  int death_signal = 0;           // Sent to the child when the thread that started it ends.
};

class Process {
 public:
  Process() = default;

  // The child has its own session (no Ctrl-C from our terminal), a small fixed environment, default
  // signal handling, and no descriptor of ours except those named in `spec`.
  static Result<Process> spawn(const SpawnSpec& spec);
  // A process that is not our child; not_found if there is none.
  static Result<Process> attach(pid_t pid);

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  bool running() const;

  // True once it has ended. For a child exit_text() then says how.
  bool wait(std::chrono::milliseconds timeout);
  void signal(int number) const;
  std::string exit_text() const;  // "exit status 1", "signal 9"; "gone" if not our child.
  bool succeeded() const { return ended_ && exit_status_ == 0; }

 private:
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool child_ = false;
  bool ended_ = false;
  std::optional<int> exit_status_;
  std::optional<int> exit_signal_;
};

struct CommandOutput {
  bool succeeded = false;
  std::string exit_text;
  std::string output;  // Both streams; the last megabyte.
};

// Runs a program to its end. It dies with us, and is killed after `timeout`.
Result<CommandOutput> run_command(SpawnSpec spec, std::chrono::milliseconds timeout);

}  // namespace millrace::cluster
