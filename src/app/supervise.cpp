#include "app/supervise.h"

#include "app/engine.h"
#include "app/exit_code.h"
#include "base/run.h"
#include "pg/pool.h"
#include "store/pg_job_store.h"
#include "worker/supervisor.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <atomic>
#include <thread>
#include <unistd.h>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

// A database named on the command line goes to the children in the environment: arguments can be
// read by everybody on the machine.
Environment child_environment(const Context& context) {
  auto environment = context.environment;
  if (context.global.database_url) {
    for (const char* name :
         {"DATABASE_URL_FILE", "MILLRACE_DATABASE_URL", "MILLRACE_DATABASE_URL_FILE"}) {
      environment.erase(name);
    }
    environment["DATABASE_URL"] = *context.global.database_url;
  }
  return environment;
}

std::vector<std::string> child_command(const Context& context, const SuperviseOptions& options) {
  std::vector<std::string> argv{"/proc/self/exe", "worker"};
  const auto pass = [&](const char* flag, const std::optional<std::string>& value) {
    if (value) argv.insert(argv.end(), {flag, *value});
  };
  pass("--config", context.global.config_file);
  pass("--data-dir", context.global.data_dir);
  pass("--log-level", context.global.log_level);
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  return argv;
}

}  // namespace

Result<int> supervise(Context& context, const SignalWaiter& signals, SuperviseOptions options) {
  boost::asio::io_context io(1);
  const auto connect = connect_as(options.database, "millrace_worker", "millrace-supervisor");
  pg::Pool pool(io.get_executor(), connect, {.connections_max = 2}, context.random);
  store::PgJobStore store(pool, pool);
  std::atomic<bool> ready = false;
  std::atomic<bool> finished = false;

  worker::SupervisorOptions chosen;
  chosen.argv = child_command(context, options);
  chosen.env = child_environment(context);
  chosen.processes = options.processes;
  chosen.supervisor_id = fmt::format("{}-{}-{:08x}", worker_options(context).host, ::getpid(),
                                     static_cast<std::uint32_t>(context.random.next()));
  chosen.stop_timeout = context.settings.duration("worker.drain_timeout") + 30s;
  chosen.on_ready = [&ready] { ready = true; };
  const auto supervisor_id = chosen.supervisor_id;
  worker::Supervisor supervisor(
      io.get_executor(),
      {.store = store, .clock = context.clock, .random = context.random, .log = context.log},
      std::move(chosen));
  // The children die with this thread, so it ends only after them.
  std::thread thread([&] {
    run_blocking(io, supervisor.run());
    finished = true;
  });

  int stopped_by = 0;
  bool killed = false;
  bool told = false;
  std::optional<Error> failure;
  while (!finished) {
    const auto number = signals.wait(told ? 200ms : 20ms);
    if (number && stopped_by == 0) {
      stopped_by = *number;
      supervisor.stop();
    } else if (number) {
      killed = true;
      supervisor.kill();
    }
    if (!told && ready) {
      told = true;
      if (auto written = options.on_ready(supervisor_id); !written) {
        failure = written.error();
        supervisor.stop();
      }
    }
  }
  thread.join();
  pool.close();
  if (failure) return fail(*failure);
  if (!killed) return kExitOk;
  return stopped_by == SIGINT ? kExitInterrupted : kExitTerminated;
}

}  // namespace millrace::app
