// Children: the pool of confined children, started when the first document comes.
//
// A worker that never sees a document pays nothing for it. Threading: run() from any thread.
// Lifetime: as sandbox::TaskPool; the executor's thread outlives it.
#pragma once

#include "sandbox/task.h"

#include <memory>
#include <mutex>

namespace millrace::pipeline {

class Children {
 public:
  Children(Executor executor, sandbox::PoolSpec spec);
  ~Children();

  // As TaskPool::run.
  Task<sandbox::TaskResult> run(sandbox::TaskSpec task, CancelToken cancel);
  sandbox::TaskPool::State state() const;  // Empty before the first task.

 private:
  Result<sandbox::TaskPool*> pool();

  Executor executor_;
  sandbox::PoolSpec spec_;
  mutable std::mutex mutex_;  // Guards pool_.
  std::unique_ptr<sandbox::TaskPool> pool_;
};

}  // namespace millrace::pipeline
