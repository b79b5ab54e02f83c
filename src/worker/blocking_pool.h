// BlockingPool: threads for handlers that block. A thread is started when a task finds none idle.
//
// Threading: submit() from any thread. Lifetime: the destructor waits for idle threads to end and
// leaves behind those whose task does not return, because nothing can stop them; the process is
// about to exit then.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace millrace::worker {

class BlockingPool {
 public:
  BlockingPool();
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // `task` must not throw. Throws when no thread can be started for it; then it is never run.
  void submit(std::function<void()> task);
  std::size_t threads() const;

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // Shared with the threads.
};

}  // namespace millrace::worker
