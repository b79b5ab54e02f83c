// The jail: what a child gives up for good before it reads the first byte of a document.
//
// Flow: the zygote calls share_nothing() and prepare_jail() once, which hides its files as well,
// and each child calls take_jail(). Two walls must stand, or there is no task (cannot_confine):
// seccomp, a list of system calls that are allowed, and Landlock, a list of paths that may be read.
// The rest is added where the kernel allows: another user, no capabilities, own namespaces for
// network, IPC and mounts, rlimits, a cgroup. Its priority is low: whoever waits for a document can
// wait longer than the rest of the machine.
//
// A call that is not on the list ends the child: SIGSYS, told to the parent as a frame that names
// the call. Calls that libraries try and can live without answer EPERM, EACCES or ENOSYS.
// docs/sandbox.md has the tables. Threading: for processes with one thread.
#pragma once

#include "base/result.h"
#include "sandbox/task_groups.h"
#include "sandbox/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::sandbox {

struct JailFeature {
  std::string name;  // "seccomp", "landlock", "user", "namespaces", …
  bool used = false;
  bool required = false;
  std::string detail;  // "ABI 7", or why it is not used.

  friend bool operator==(const JailFeature&, const JailFeature&) = default;
};
using JailDescription = std::vector<JailFeature>;

// How much a task gives way: while others want the processor it gets about a hundredth of it, so
// that what it reads cannot slow them down, and all of it otherwise.
inline constexpr int kTaskNice = 19;

struct JailLimits {
  std::uint64_t memory_bytes = 0;  // On top of what is mapped now.
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t open_files = 64;
  std::uint64_t stack_bytes = 8ULL * 1024 * 1024;
  int group = -1;  // Of TaskGroups; -1: none.
};

// What can be made ready before the fork: cheap to copy into a child, slow to build.
struct JailPlan {
  std::vector<sock_filter> filter;  // Holds kPidPlaceholder where the child's pid belongs.
  UniqueFd ruleset;                 // Landlock.
  UniqueFd proc;                    // The folder /proc.
  std::optional<TaskGroups> groups;
  JailDescription description;
};

struct Namespaces {
  JailDescription description;
  bool own_mounts = false;  // What is mounted here is seen nowhere else.
};

// New namespaces for this process and its children, where allowed. Before warm-up.
Namespaces share_nothing();

// After warm-up: from here on this process, too, sees no files but those below read_paths, if it
// has a mount namespace. unavailable, with the reason, when this kernel cannot give seccomp or
// Landlock.
Result<JailPlan> prepare_jail(const Namespaces& namespaces,
                              const std::vector<std::string>& read_paths);

// Descriptors from `first_closed` on are closed. After it there is no way back; an error leaves the
// process half confined, fit for reporting the error and _exit.
Result<void> take_jail(JailPlan& plan, const JailLimits& limits, int first_closed);

// What a child on this machine gets, and what not and why: takes the jail in a process made for
// that. For `millrace doctor`.
JailDescription describe_jail();

// As text, for a pipe.
std::string encode(const JailDescription& description);
JailDescription decode_description(std::string_view text);

}  // namespace millrace::sandbox
