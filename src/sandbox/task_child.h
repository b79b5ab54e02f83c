// run_task: the life of one confined child, from the fork to its exit.
//
// It brings its descriptors in order (0, 1, 2: /dev/null; 3: the pipe for frames; 4: the request;
// from 5 on: the files), takes the jail, says so, reads the request, runs the task and answers.
#pragma once

#include "sandbox/jail.h"
#include "sandbox/task_server.h"
#include "sandbox/task_wire.h"

#include <sys/types.h>

namespace millrace::sandbox {

// A call that is not allowed ends the child with this code, should even its report get lost.
inline constexpr int kForbiddenExit = 94;
// Descriptors that the zygote keeps for its children lie above those that a child renumbers.
inline constexpr int kZygoteFdsFrom = 100;

struct ChildTask {
  const TaskServer& server;
  JailPlan& plan;
  WirePacket& start;
  int null_fd;
  int group;  // Of TaskGroups; -1: none.
  pid_t zygote;
};

[[noreturn]] void run_task(const ChildTask& task) noexcept;

}  // namespace millrace::sandbox
