#include "app/commands/commands.h"
#include "app/config/mask_url.h"
#include "app/context.h"
#include "app/engine.h"
#include "app/exit_code.h"
#include "app/observe/telemetry.h"
#include "app/ready_file.h"
#include "app/serve/http_service.h"
#include "app/signals.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

struct Options {
  std::vector<std::string> listen;
  std::optional<std::string> ready_file;
  bool no_keeper = false;
};

Result<void> apply_flags(Context& context, const Options& options) {
  if (!options.listen.empty()) {
    std::string joined;
    for (const auto& address : options.listen) joined += (joined.empty() ? "" : ",") + address;
    MR_TRY_VOID(context.settings.set_flag("server.listen", joined, "--listen"));
  }
  if (options.no_keeper) {
    MR_TRY_VOID(context.settings.set_flag("keeper.enabled", "false", "--no-keeper"));
  }
  return {};
}

// The keeper's duties run here too, when this process holds their lease.
std::unique_ptr<Engine> start_keeper(Context& context, const Database& database) {
  EngineOptions engine;
  engine.database = database;
  engine.listen_url = context.settings.text("database.direct_url");
  engine.run_keeper = true;
  engine.run_worker = false;
  auto started = std::make_unique<Engine>(context, std::move(engine));
  started->start();
  return started;
}

Result<int> run_serve(Context& context, const Options& options) {
  MR_TRY_VOID(apply_flags(context, options));
  SignalWaiter signals;
  MR_TRY(const auto telemetry, Telemetry::start(context));
  auto ready = options.ready_file ? std::make_unique<ReadyFile>(*options.ready_file)
                                  : std::make_unique<ReadyFile>();
  MR_TRY_VOID(ready->remove_stale());
  MR_TRY(const auto database, find_database(context.settings));
  {
    MR_TRY(auto store, context.connect_to(database));  // Reachable, and with our schema.
    MR_TRY_VOID(store.refuse_foreign_lanes());
    MR_TRY_VOID(store.check_client_roles());
  }
  HttpService service(context, {.database = database});
  MR_TRY_VOID(service.start());
  const bool keeps = context.settings.boolean("keeper.enabled");
  auto keeper = keeps ? start_keeper(context, database) : nullptr;

  json::Object content{{"database_url", database.url}, {"http_url", service.url()}};
  MR_TRY_VOID(ready->write(content));
  if (context.json()) context.print_json(content);
  context.log.info("ready", {{"database", mask_url(database.url)}, {"http_url", service.url()}});

  std::optional<int> number;
  for (;;) {
    number = signals.wait(milliseconds(500));
    if (!number) continue;
    if (*number != SIGHUP) break;
    service.reload();
  }
  context.log.info("draining", {{"signal", *number}});
  const auto report = service.stop();
  if (keeper) {
    keeper->drain();
    (void)keeper->join();
  }
  if (report.stuck_connections > 0) {
    ready.reset();
    std::_Exit(kExitOk);  // Their handlers have not returned and nothing can end them.
  }
  return kExitOk;
}

}  // namespace

void add_serve_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command = root.add("serve", "Run the HTTP server").group("Running");
  command.option("--listen", "ADDRESS", options->listen,
                 "host:port (port 0: a free one) or unix:/path; default: server.listen");
  command.flag("--no-keeper", options->no_keeper, "Do not stand for election as keeper");
  command.option("--ready-file", "PATH", options->ready_file, "JSON file written once ready")
      .files();
  command.footer(
      "Listens on 127.0.0.1:8080 unless told otherwise; $PORT means all addresses. SIGTERM lets\n"
      "running requests end, SIGHUP reads the certificate again.");
  command.service();
  command.action([options](Context& context) { return run_serve(context, *options); });
}

}  // namespace millrace::app
