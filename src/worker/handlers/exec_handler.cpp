#include "worker/handlers/exec_handler.h"

#include "base/fault.h"
#include "base/redact.h"
#include "model/job_json.h"
#include "sandbox/child.h"
#include "worker/handlers/control_line.h"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

namespace millrace::worker {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

}  // namespace

milliseconds ExecHandler::wait_limit(milliseconds run_timeout) const {
  return run_timeout + run_timeout / 10 + options_.kill_grace;
}

milliseconds ExecHandler::stop_grace() const { return options_.kill_grace + 1s; }

awaitable<Outcome> ExecHandler::run(std::shared_ptr<JobContext> context) {
  auto input = job_json(context->job());
  return run_program(std::move(context), options_, std::move(input));
}

awaitable<Outcome> run_program(std::shared_ptr<JobContext> context, ExecOptions options,
                               std::string input) {
  const auto& job = context->job();
  sandbox::ChildSpec spec;
  spec.argv = std::move(options.argv);
  spec.env = std::move(options.env);
  spec.env["MILLRACE_JOB_ID"] = job.id.to_string();
  spec.env["MILLRACE_ATTEMPT"] = std::to_string(job.attempt);
  spec.env["MILLRACE_CORRELATION_ID"] = storable_text(job.correlation_id);
  spec.cwd = std::move(options.cwd);
  spec.stdin_data = std::move(input);
  spec.timeout = std::min(options.wall.value_or(context->run_timeout()), context->run_timeout());
  spec.kill_grace = options.kill_grace;
  spec.stdout_max_bytes = options.result_max_bytes;
  spec.limits = options.limits;
  // Shared with the callbacks; Child::run calls them one at a time and not after its end.
  auto notes = std::make_shared<ExecNotes>();
  auto on_line = [context, notes](std::string_view line) {
    context->log(LogLevel::info, line);
    if (!line.empty()) notes->last_line = storable_text(redact_text(line), 500);
  };
  auto on_control = [context, notes](std::string_view line) {
    take_control_line(line, *context, *notes);
  };
  const auto executor = co_await boost::asio::this_coro::executor;
  if (fault::reach("exec.before") == fault::Effect::error) {
    co_return Outcome::retry("exec_failed", fault::injected("exec.before").message);
  }
  auto result = co_await sandbox::Child::run(executor, std::move(spec), std::move(on_line),
                                             std::move(on_control), context->token());
  MR_FAULT("exec.after");
  // It never ran. Another machine may have the program, and an operator can put it right.
  if (!result.has_value()) co_return Outcome::retry("exec_failed", result.error().describe());
  co_return exec_outcome(*result, *notes, options.result_max_bytes);
}

}  // namespace millrace::worker
