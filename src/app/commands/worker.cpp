#include "app/commands/commands.h"
#include "app/context.h"
#include "app/engine.h"
#include "app/exit_code.h"
#include "app/handlers.h"
#include "app/observe/probe_service.h"
#include "app/observe/run_telemetry.h"
#include "app/observe/telemetry.h"
#include "app/ready_file.h"
#include "app/signals.h"
#include "app/supervise.h"
#include "worker/supervisor_link.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

struct Options {
  std::vector<std::string> queues;
  std::optional<std::int64_t> slots;
  std::optional<std::int64_t> processes;
  std::optional<std::string> lease;
  std::optional<std::string> id;
  std::optional<std::string> metrics_listen;
  std::optional<std::string> ready_file;
  std::optional<std::string> supervisor_id;  // Set by our own supervisor only.
  std::optional<std::string> child;
  bool no_keeper = false;
};

Result<void> apply_flags(Context& context, const Options& options) {
  auto& settings = context.settings;
  const auto number = [&](const char* key, const char* flag,
                          const std::optional<std::int64_t>& value) -> Result<void> {
    if (!value) return {};
    return settings.set_flag(key, fmt::format("{}", *value), flag);
  };
  MR_TRY_VOID(number("worker.slots", "--slots", options.slots));
  MR_TRY_VOID(number("worker.processes", "--processes", options.processes));
  if (options.lease) {
    MR_TRY_VOID(settings.set_flag("worker.lease", *options.lease, "--lease"));
  }
  if (options.id) MR_TRY_VOID(settings.set_flag("worker.id", *options.id, "--id"));
  if (options.metrics_listen) {
    MR_TRY_VOID(
        settings.set_flag("worker.metrics_listen", *options.metrics_listen, "--metrics-listen"));
  }
  if (options.no_keeper) MR_TRY_VOID(settings.set_flag("keeper.enabled", "false", "--no-keeper"));
  if (!options.queues.empty()) {
    std::string joined;
    for (const auto& queue : options.queues) joined += (joined.empty() ? "" : ",") + queue;
    MR_TRY_VOID(settings.set_flag("worker.queues", joined, "--queue"));
  }
  return {};
}

// Waits for the end, passing signals on: the first drains, the second kills.
Result<int> run_until_stopped(Context& context, const SignalWaiter& signals, Engine& engine,
                              const std::function<Result<void>()>& on_ready) {
  int stopped_by = 0;
  bool killed = false;
  bool told_ready = false;
  std::optional<Error> failure;
  while (!engine.finished()) {
    const auto number = signals.wait(milliseconds(told_ready ? 200 : 20));
    if (number && stopped_by == 0) {
      stopped_by = *number;
      context.log.info("draining", {{"signal", *number}});
      engine.drain();
    } else if (number) {
      killed = true;
      engine.kill();
    }
    if (!told_ready && engine.ready()) {
      told_ready = true;
      if (auto told = on_ready(); !told) {
        failure = told.error();
        engine.drain();
      }
    }
  }
  const auto report = engine.join();
  if (failure) return fail(*failure);
  if (!report) return fail(report.error());
  context.log.info("stopped", {{"settled", report->settled}, {"fenced", report->fenced}});
  const int code = !killed ? kExitOk : stopped_by == SIGINT ? kExitInterrupted : kExitTerminated;
  if (report->stuck_handlers > 0) std::_Exit(code);  // Their threads cannot be ended.
  return code;
}

// Where this process tells of itself; nothing unless asked for.
Result<std::optional<http::ListenAddress>> probe_address(const Settings& settings, int processes) {
  const auto& text = settings.text("worker.metrics_listen");
  if (text.empty()) return std::optional<http::ListenAddress>();
  if (processes > 1) {
    return fail(ErrorKind::invalid_argument,
                "worker.metrics_listen needs worker.processes = 1: one address serves one process");
  }
  auto address = http::parse_listen(text);
  if (!address) return fail_with_context("worker.metrics_listen", address.error());
  return std::optional(*std::move(address));
}

json::Object ready_content(const Context& context, const Database& database,
                           const std::vector<worker::QueueChoice>& queues) {
  json::Array names;
  for (const auto& queue : queues) names.emplace_back(queue.name);
  json::Array types;
  for (const auto& type : handled_types(context.settings)) types.emplace_back(type);
  json::Object content{{"database_url", database.url},
                       {"queues", std::move(names)},
                       {"job_types", std::move(types)}};
  if (database.is_private) {
    const auto& data_dir = context.settings.text("database.data_dir");
    content["data_dir"] = std::filesystem::absolute(data_dir).string();
  }
  return content;
}

// What the children of a supervisor are told again.
std::vector<std::string> child_arguments(const Options& options) {
  std::vector<std::string> arguments{"--processes", "1"};
  const auto pass = [&](const char* flag, const std::string& value) {
    arguments.insert(arguments.end(), {flag, value});
  };
  for (const auto& queue : options.queues) pass("--queue", queue);
  if (options.slots) pass("--slots", fmt::format("{}", *options.slots));
  if (options.lease) pass("--lease", *options.lease);
  if (options.id) pass("--id", *options.id);
  if (options.no_keeper) arguments.emplace_back("--no-keeper");
  return arguments;
}

Result<int> run_worker(Context& context, const Options& options) {
  SignalWaiter signals;
  std::optional<worker::SupervisorLink> link;
  if (options.child) {
    MR_TRY(link, worker::SupervisorLink::open(*options.child));
  }
  MR_TRY_VOID(apply_flags(context, options));
  ReadyFile no_file;
  auto wanted_file =
      options.ready_file ? std::make_unique<ReadyFile>(*options.ready_file) : nullptr;
  auto& ready_file = wanted_file ? *wanted_file : no_file;
  MR_TRY_VOID(ready_file.remove_stale());
  MR_TRY_VOID(check_handlers(context.settings));
  MR_TRY(const auto database, find_database(context.settings));
  auto worker = worker_options(context);
  {
    MR_TRY(auto store, context.connect_to(database));
    MR_TRY_VOID(store.refuse_foreign_lanes());
    MR_TRY(worker.queues, prepare_queues(context, store));
  }
  auto content = ready_content(context, database, worker.queues);
  const auto processes = static_cast<int>(context.settings.integer("worker.processes"));
  MR_TRY(const auto probes_at, probe_address(context.settings, processes));
  if (processes > 1) {
    return supervise(context, signals,
                     {.database = database,
                      .processes = processes,
                      .arguments = child_arguments(options),
                      .on_ready = [&](const std::string& supervisor_id) {
                        context.note(fmt::format("{} worker processes are ready: {} slots each",
                                                 processes, worker.slots));
                        content["supervisor_id"] = supervisor_id;
                        content["processes"] = processes;
                        return ready_file.write(content);
                      }});
  }
  if (options.supervisor_id) worker.supervisor_id = *options.supervisor_id;
  if (link) {
    worker.on_registered = [&link](const std::string& worker_id) { link->registered(worker_id); };
  }
  MR_TRY(const auto telemetry, Telemetry::start(context));
  RunTelemetry watch(context.metrics, context.tracer, context.clock, context.random);
  if (probes_at || context.tracer != nullptr) worker.watch = &watch;
  EngineOptions engine_options;
  engine_options.database = database;
  engine_options.listen_url = context.settings.text("database.direct_url");
  engine_options.run_keeper = context.settings.boolean("keeper.enabled");
  engine_options.worker = worker;
  engine_options.handlers = [&context](const HandlerParts& parts) {
    return make_registry(context, parts);
  };
  Engine engine(context, std::move(engine_options));
  std::optional<ProbeService> probes;
  if (probes_at) {
    probes.emplace(context, [&engine] {
      return ProbeStatus{
          .ready = engine.ready(), .draining = engine.draining(), .worker_id = engine.worker_id()};
    });
    MR_TRY_VOID(probes->start(*probes_at));
    content["http_url"] = probes->url();
  }
  engine.start();
  return run_until_stopped(context, signals, engine, [&]() -> Result<void> {
    if (!link) {
      context.note(fmt::format("worker {} is ready: {} slots", engine.worker_id(), worker.slots));
    }
    content["worker_id"] = engine.worker_id();
    return ready_file.write(content);
  });
}

}  // namespace

void add_worker_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command = root.add("worker", "Run jobs").group("Running");
  command.option("--queue", "NAME[:WEIGHT]", options->queues,
                 "Serve this queue; repeatable (default: those of the handlers)");
  command.option("--slots", "N", options->slots, "Jobs at once (default: worker.slots)");
  command.option("--processes", "N", options->processes, "So many processes under a supervisor");
  command.option("--lease", "TIME", options->lease, "Instead of worker.lease");
  command.option("--id", "TEXT", options->id, "Prefix of the worker's id");
  command.flag("--no-keeper", options->no_keeper, "Do not stand for election as keeper");
  command.option("--metrics-listen", "ADDRESS", options->metrics_listen,
                 "host:port for /livez, /readyz, /health and /metrics of this worker");
  command.option("--ready-file", "PATH", options->ready_file, "JSON file written once ready")
      .files();
  command.option("--supervisor-id", "ID", options->supervisor_id, "").hide_last();
  command.option("--child", "FD:PID", options->child, "").hide_last();
  command.footer(
      "Handlers come from [[handler]] in millrace.toml; noop and sleep are built in. SIGTERM lets\n"
      "running jobs finish (worker.drain_timeout) and hands the rest back; a second one stops at\n"
      "once.");
  command.service();
  command.action([options](Context& context) { return run_worker(context, *options); });
}

}  // namespace millrace::app
