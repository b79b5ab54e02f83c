// TaskGroups: a cgroup v2 of its own for every task, with a limit for its memory.
//
// An extra: rlimits hold a task without it. They count addresses, this counts pages, with those
// that the kernel holds for the task, and ends the task before the machine is short of memory.
//
// Flow: the zygote opens it once, before its files are hidden; for each task it makes a group, the
// child joins it before the jail, and when the child is reaped the group is removed. A zygote that
// is killed leaves empty groups, which the next one that opens the same place removes.
//
// Groups can be made where the memory controller is handed on: in the cgroup of this process, or
// in the one around it if that was delegated to us (systemd: Delegate=memory with
// DelegateSubgroup=). Nothing is moved that is not ours. docs/sandbox.md has the table.
#pragma once

#include "base/result.h"
#include "sandbox/unique_fd.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace millrace::sandbox {

class TaskGroups {
 public:
  // unavailable, with the reason, where there is no such place or it does not work: it is tried.
  static Result<TaskGroups> open();
  // `folder`: a cgroup whose memory controller is handed on, or can be.
  static Result<TaskGroups> open_in(const std::string& folder);

  // The group of task `id` of process `owner`, open for joining.
  Result<UniqueFd> make(pid_t owner, std::uint64_t id, std::uint64_t memory_bytes) const;
  // Whether the kernel ended the task for want of memory. Before the group is removed.
  bool ran_out(pid_t owner, std::uint64_t id) const;
  void remove(pid_t owner, std::uint64_t id) const;
  // Those of processes that are gone.
  void remove_stale() const;

  const std::string& path() const { return path_; }
  UniqueFd& folder() { return folder_; }

 private:
  TaskGroups(UniqueFd folder, std::string path)
      : folder_(std::move(folder)), path_(std::move(path)) {}
  Result<void> try_out() const;

  UniqueFd folder_;
  std::string path_;
};

// The calling process moves into the group. False: it cannot, errno says why.
bool join_group(int group);

// Where the cgroup of this process lies, by the texts of /proc/self/mountinfo and
// /proc/self/cgroup. `mount` is the top that can be seen here.
struct OwnGroup {
  std::string mount;
  std::string folder;
};
Result<OwnGroup> find_own_group(std::string_view mountinfo, std::string_view cgroup);

}  // namespace millrace::sandbox
