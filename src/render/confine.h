// confine_and_exec: the browser's side between clone and exec, where it gives up what it can.
//
// The parent may have threads whose locks the child has copied in any state, so everything here was
// prepared by the parent and only system calls are made: no allocation, no logging. What the child
// gives up, in this order: the network, other processes and files (namespaces, a root of its own),
// root's user and groups, the right to gain privileges. Then Chromium starts and, where user
// namespaces are allowed, confines its own renderers further.
#pragma once

#include "sandbox/exec_child.h"

#include <span>
#include <sys/types.h>

namespace millrace::render {

// A file or folder that is seen in the browser's root; all but the scratch folder read-only.
struct View {
  const char* source;
  const char* target;  // Below the new root, without a leading slash: "usr".
  bool is_folder;
  bool writable;
};

struct ConfinePlan {
  const char* file = nullptr;  // nullptr: only try, then exit (probe).
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  std::span<const sandbox::Limit> limits;
  bool user_namespace = false;  // The process is in a new one: map the user.
  const char* uid_map = nullptr;
  const char* gid_map = nullptr;
  bool own_root = false;        // The process is in new mount and PID namespaces: build a root.
  const char* stage = nullptr;  // An empty folder that the root is mounted on, and then left.
  std::span<const View> views;
  std::span<const char* const> folders;  // Parents first; made in the new root.
  bool become_nobody = false;
  int null_fd = -1;
  int errors_fd = -1;
  int input_fd = -1;   // Becomes 3.
  int output_fd = -1;  // Becomes 4.
  int report_fd = -1;  // Becomes 5 until exec.
};

enum class ConfineStep : int {
  none,
  set_up,
  user_map,
  mounts,
  user,
  limits,
  exec,
};

// Written to report_fd: once with step none when all is given up, or with what failed.
struct ConfineReport {
  ConfineStep step = ConfineStep::none;
  int error = 0;
  bool may_nest = false;  // Of a probe: Chromium can make user namespaces for its own sandbox.
};

[[noreturn]] void confine_and_exec(const ConfinePlan& plan) noexcept;

}  // namespace millrace::render
