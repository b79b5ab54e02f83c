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
#include "worker/handlers/exec_outcome.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::worker {

struct ExecOptions {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string cwd;  // Empty: the worker's.
  sandbox::ChildSpec::Limits limits;
  std::chrono::milliseconds kill_grace{2'000};  // From SIGTERM to SIGKILL.
  std::size_t result_max_bytes = kExecResultMaxBytes;
  std::optional<std::chrono::milliseconds> wall = {};  // Ends it before the run timeout does.
};

// Runs the program once for the job, with `input` on stdin.
awaitable<Outcome> run_program(std::shared_ptr<JobContext> context, ExecOptions options,
                               std::string input);

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
