// TaskPool: runs tasks on hostile input, each in a confined child of its own.
//
// Flow: start() begins to start the program (millrace-document), which loads what it needs once
// and then serves (task_server.h): the zygote. run() hands it a request and open files; it forks,
// the child takes the jail, reads, answers in frames through a pipe, and exits. The pool holds
// child and frames to the limits of the task, kills it by its pidfd, and says how it ended. A
// zygote that dies is started again, with growing pauses.
//
// A TaskResult says what the input did. An Error says that the task did not come to an end for
// reasons that are not the input's: invalid_argument (the spec), unavailable (no warm program now,
// or it died under the task), or the error of on_output. Such a task can be tried again.
//
// Threading: callable from any thread; the sinks are called one at a time on a strand of
// `executor`. The zygote dies with the thread that runs `executor` when it is started, so such a
// thread must live as long as the process. Lifetime: await stop() before the pool goes away while
// tasks run; the destructor kills what is left. Asio cancellation is ignored: use the token.
#pragma once

#include "base/cancel.h"
#include "base/log.h"
#include "base/task.h"
#include "sandbox/jail.h"
#include "sandbox/task_spec.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace millrace::sandbox {

struct PoolSpec {
  std::string program;                     // Path of the program that calls serve_tasks().
  std::vector<std::string> args = {};      // Without argv[0].
  std::map<std::string, std::string> env;  // The whole environment, e.g. OMP_THREAD_LIMIT=1.
  std::chrono::milliseconds warm_up_timeout = std::chrono::seconds(30);
  std::size_t size = 64;  // Tasks at once; more wait in line for a place.
  Logger log = Logger::silent();
};

class TaskPool {
 public:
  // An error: the spec is wrong or the program is not there. Warming up goes on behind this.
  static Result<std::unique_ptr<TaskPool>> start(Executor executor, PoolSpec spec);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // Ends when the program is warm; unavailable, with its words, when it does not get so in time.
  Task<void> ready();
  // Waits for ready() if need be, and for a place; neither counts against limits.wall.
  Task<TaskResult> run(TaskSpec spec, CancelToken cancel);
  // Refuses new tasks, cancels those under way, ends the program. Safe twice.
  awaitable<void> stop();

  struct State {
    bool ready = false;
    pid_t program_pid = -1;  // -1 while there is none.
    std::uint64_t starts = 0;
    std::size_t running = 0;
    std::size_t waiting = 0;
    std::string last_error;  // Why the program last died or did not get ready.
    JailDescription jail;    // As the program found it; empty before the first ready.
  };
  State state() const;  // From any thread.

 private:
  class Impl;
  explicit TaskPool(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // Shared with the coroutines that serve it.
};

}  // namespace millrace::sandbox
