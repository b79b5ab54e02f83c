// spawn and TaskGroup: the only ways to start a coroutine.
//
// An exception that leaves a coroutine is a bug or exhausted memory: it is logged with the
// coroutine's name and the process aborts, because leases make a crash safe and a half-dead process
// is not. Nothing is allocated that could prevent the end. What a handler throws does not come this
// far: it is the outcome of its job, a retry.
#pragma once

#include "base/log.h"
#include "base/task.h"

#include <cstddef>
#include <memory>
#include <string>

namespace millrace {

// Starts a coroutine nobody waits for. `log` must outlive it.
void spawn(Executor executor, awaitable<void> task, Logger& log, std::string name);
// Resumes behind all that is ready to run on this executor.
awaitable<void> others_first();

// Starts it, but never before this returns, and behind all that is ready to run there.
void spawn_later(Executor executor, awaitable<void> task, Logger& log, std::string name);

// Coroutines that are waited for together: the group's owner calls join() before it goes away.
// Thread-safe; tasks may add tasks.
class TaskGroup {
 public:
  TaskGroup(Executor executor, Logger& log);
  ~TaskGroup();  // Asserts that nothing runs any more.
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  void add(std::string name, awaitable<void> task);
  std::size_t running() const;
  // Returns when no task runs. The group can be used again afterwards.
  awaitable<void> join();

 private:
  struct State;
  Executor executor_;
  Logger& log_;
  std::shared_ptr<State> state_;  // Shared with running tasks.
};

}  // namespace millrace
