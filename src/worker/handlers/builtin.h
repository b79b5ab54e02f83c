// noop and sleep: handlers for tests, benches and first steps.
#pragma once

#include "worker/handler.h"

namespace millrace::worker {

// Succeeds at once with no result.
class NoopHandler final : public Handler {
 public:
  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;
};

// Sleeps for the payload's "ms" (0 to one hour), then succeeds. With `allow_test_outcomes` the
// payload may also say how to end: "fail": "retry", "permanent", "throttled", "blocked", "partial",
// "throw", "kill" (the whole process, by SIGKILL); and "fail_attempts": n, only the first n
// attempts.
class SleepHandler final : public Handler {
 public:
  explicit SleepHandler(bool allow_test_outcomes = false)
      : allow_test_outcomes_(allow_test_outcomes) {}

  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;

 private:
  bool allow_test_outcomes_;
};

}  // namespace millrace::worker
