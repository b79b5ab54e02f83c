// Handler: runs one kind of job. Implementations: handlers/ (function, coroutine, exec, http, noop,
// sleep).
#pragma once

#include "base/task.h"
#include "model/outcome.h"
#include "worker/job_context.h"

#include <chrono>
#include <memory>

namespace millrace::worker {

class Handler {
 public:
  virtual ~Handler() = default;

  // Called on the I/O executor, for many jobs at a time; must not block it. The context stays valid
  // for as long as the pointer is kept, also after the runtime has given up on the handler. An
  // exception is a `retry`.
  virtual awaitable<Outcome> run(std::shared_ptr<JobContext> context) = 0;

  // How long the runtime waits before it stops the handler. A handler that enforces the run timeout
  // on somebody else asks for more than that, so that the inner limit always ends first (D13).
  virtual std::chrono::milliseconds wait_limit(std::chrono::milliseconds run_timeout) const {
    return run_timeout;
  }
  // How long it may take to stop; then the runtime settles the job without it.
  virtual std::chrono::milliseconds stop_grace() const { return std::chrono::milliseconds(2'000); }
};

}  // namespace millrace::worker
