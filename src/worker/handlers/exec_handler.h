// ExecHandler: runs a program for each job.
//
// stdin: the job as JSON. stdout: the result as JSON. stderr: log lines. fd 3: JSON lines
// {"progress": 40, "message": "..."}, {"log": "...", "level": "warn"}, {"retry_after": 30}.
// Exit code 0 is ok, 75 retry, 69 throttled, 65 permanent; anything else and signals are a retry.
// The environment is what the options say and MILLRACE_JOB_ID, MILLRACE_ATTEMPT,
// MILLRACE_CORRELATION_ID; nothing is inherited.
#pragma once

#include "sandbox/child_spec.h"
#include "worker/handler.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace millrace::worker {

struct ExecOptions {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string cwd;  // Empty: the worker's.
  sandbox::ChildSpec::Limits limits;
  std::chrono::milliseconds kill_grace{2'000};  // From SIGTERM to SIGKILL.
};

class ExecHandler final : public Handler {
 public:
  explicit ExecHandler(ExecOptions options) : options_(std::move(options)) {}

  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;
  std::chrono::milliseconds wait_limit(std::chrono::milliseconds run_timeout) const override;
  std::chrono::milliseconds stop_grace() const override;

 private:
  ExecOptions options_;
};

}  // namespace millrace::worker
