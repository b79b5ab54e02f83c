#include "app/commands/commands.h"
#include "app/config/mask_url.h"
#include "app/context.h"
#include "app/engine.h"
#include "app/exit_code.h"
#include "app/handlers.h"
#include "app/live_view.h"
#include "app/observe/run_telemetry.h"
#include "app/observe/telemetry.h"
#include "app/private_database.h"
#include "app/ready_file.h"
#include "app/schema.h"
#include "app/serve/http_service.h"
#include "app/signals.h"
#include "base/version.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <unistd.h>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

struct Options {
  std::optional<std::string> ready_file;
  bool no_worker = false;
  bool no_server = false;
  std::optional<std::int64_t> slots;
  std::vector<std::string> listen;
};

class Up {
 public:
  Up(Context& context, const Options& options)
      : context_(context),
        options_(options),
        ready_file_(options.ready_file ? std::make_unique<ReadyFile>(*options.ready_file)
                                       : std::make_unique<ReadyFile>()),
        view_(context) {}

  Result<int> run() {
    MR_TRY_VOID(ready_file_->remove_stale());
    if (!options_.no_worker) MR_TRY_VOID(check_handlers(context_.settings));
    quiet_log();
    MR_TRY(telemetry_, Telemetry::start(context_));
    MR_TRY_VOID(open_database());
    MR_TRY(auto store, context_.connect_to(database_));
    store_ = std::make_unique<store::AdminStore>(std::move(store));
    MR_TRY_VOID(start_server());
    MR_TRY_VOID(start_engine());
    const int number = watch();
    view_.finish();
    return stop(number);
  }

 private:
  // On a terminal the table is what people look at; log lines below warning would only push it
  // down.
  void quiet_log() {
    if (!view_.active()) return;
    const auto level = context_.settings.is_set("log.level")
                           ? parse_log_level(context_.settings.text("log.level")).value()
                           : LogLevel::warn;
    context_.log = Logger(
        context_.clock, [this](std::string_view line) { view_.print_above(line); },
        Logger::Format::text, level);
  }

  void say(const std::string& line) {
    if (context_.json()) return;
    view_.print_above(line);
  }

  Result<void> open_database() {
    const auto& given = context_.settings.get("database.url");
    if (!given.value.empty()) {
      database_ = {.url = given.value, .origin = given.origin, .is_private = false};
      const auto begin = context_.clock.now();
      MR_TRY(auto connection, connect_plain(database_));
      MR_TRY_VOID(connection.query("select 1", {}, MR_POINT("first_query")));
      const auto first = std::chrono::duration_cast<milliseconds>(context_.clock.now() - begin);
      // The server needs the roles that its clients act as; on Supabase they are there.
      auto migrated =
          migrate_up(context_, connection, {.create_client_roles = !options_.no_server});
      if (!migrated) return fail_with_context("cannot prepare the schema", migrated.error());
      say(fmt::format("database   {} ({}), first query after {} ms", mask_url(database_.url),
                      database_.origin, first.count()));
      return {};
    }
    PrivateDatabase::Options open;
    open.data_dir = context_.settings.text("database.data_dir");
    open.tell = [this](const std::string& line) {
      if (!context_.terminal.out_tty || stopping_) return;
      say(context_.terminal.paint(Style::dim, line));
    };
    MR_TRY(auto opened, PrivateDatabase::open(context_, open));
    private_ = std::make_unique<PrivateDatabase>(std::move(opened));
    database_ = private_->database;
    const auto& started = private_->started;
    say(fmt::format(
        "database   PostgreSQL {} in {}, {}; from nothing to first query {} ms, schema {} ms",
        private_->cluster.version(), open.data_dir.string(),
        started.created   ? "just created"
        : started.adopted ? "was running already"
                          : "started again",
        started.elapsed.count(), private_->migrated.count()));
    say(fmt::format("connect    millrace psql{}, or DATABASE_URL='{}'",
                    open.data_dir == ".millrace"
                        ? std::string()
                        : fmt::format(" --data-dir {}", open.data_dir.string()),
                    database_.url));
    return {};
  }

  Result<void> start_server() {
    if (options_.no_server) return {};
    service_ = std::make_unique<HttpService>(
        context_, HttpService::Options{.database = database_, .any_port_if_taken = true});
    MR_TRY_VOID(service_->start());
    say(fmt::format("server     {0}, its API at {0}/docs", service_->url()));
    return {};
  }

  Result<void> start_engine() {
    auto worker = worker_options(context_);
    if (!options_.no_worker) {
      MR_TRY_VOID(store_->refuse_foreign_lanes());
      MR_TRY(worker.queues, prepare_queues(context_, *store_));
    }
    EngineOptions engine;
    engine.database = database_;
    engine.listen_url = context_.settings.text("database.direct_url");
    if (service_) {
      wake_ = service_->wake_source();  // One session of this process listens, for all of it.
      engine.wake = wake_.get();
    }
    engine.run_keeper = context_.settings.boolean("keeper.enabled");
    engine.run_worker = !options_.no_worker;
    run_telemetry_ = std::make_unique<RunTelemetry>(context_.metrics, context_.tracer,
                                                    context_.clock, context_.random);
    worker.watch = run_telemetry_.get();
    engine.worker = worker;
    engine.handlers = [this](const HandlerParts& parts) { return make_registry(context_, parts); };
    engine_ = std::make_unique<Engine>(context_, std::move(engine));
    engine_->start();
    if (options_.no_worker) {
      say("worker     none here (--no-worker); start one with 'millrace worker'");
      return {};
    }
    std::string types;
    for (const auto& type : handled_types(context_.settings)) {
      types += (types.empty() ? "" : ", ") + type;
    }
    say(fmt::format("worker     {} slots, handlers for {}", worker.slots, types));
    return {};
  }

  Result<void> write_ready() {
    json::Object content{{"database_url", database_.url}};
    if (private_) {
      content["data_dir"] = std::filesystem::absolute(private_->cluster.data_dir()).string();
      content["socket_dir"] = private_->cluster.socket_directory().string();
    }
    if (!options_.no_worker) content["worker_id"] = engine_->worker_id();
    if (service_) content["http_url"] = service_->url();
    MR_TRY_VOID(ready_file_->write(content));
    if (context_.json()) {
      content["pid"] = ::getpid();
      context_.print_json(content);
    } else {
      say("ready      stop with Ctrl-C");
    }
    context_.log.info("ready", {{"database", mask_url(database_.url)}});
    return {};
  }

  // Returns the signal that ended it, 0 when the engine ended by itself.
  int watch() {
    bool told_ready = false;
    auto next_draw = context_.clock.now();
    for (;;) {
      const auto number = signals_.wait(milliseconds(told_ready ? 250 : 20));
      // Without a certificate it means what it means to all programs: the terminal is gone.
      if (number == SIGHUP && service_ && service_->speaks_tls()) {
        service_->reload();
        continue;
      }
      if (number) return *number;
      if (engine_->finished()) return 0;
      if (!told_ready && engine_->ready()) {
        if (auto written = write_ready(); !written) {
          failure_ = written.error();
          return 0;
        }
        told_ready = true;
      }
      if (context_.clock.now() < next_draw) continue;
      next_draw = context_.clock.now() + milliseconds(view_.active() ? 250 : 10'000);
      show_status();
    }
  }

  void show_status() {
    if (!store_) {
      auto store = context_.connect_to(database_);
      if (!store) return;
      store_ = std::make_unique<store::AdminStore>(std::move(*store));
    }
    auto rows = meter_.read(*store_, context_.clock.now());
    if (!rows) {
      view_.draw(context_.terminal.paint(Style::red, "the database does not answer: " +
                                                         printable(rows.error().message)) +
                 "\n");
      store_.reset();  // Connected anew next time.
      return;
    }
    if (view_.active()) {
      view_.draw("\n" + QueueMeter::render(context_, *rows));
      return;
    }
    log_status(*rows);
  }

  void log_status(const std::vector<QueueMeter::Row>& rows) {
    QueueMeter::Row sum;
    for (const auto& row : rows) {
      sum.per_second += row.per_second;
      sum.ready += row.ready;
      sum.waiting += row.waiting;
      sum.running += row.running;
      sum.completed += row.completed;
      sum.failed += row.failed;
    }
    const auto now = fmt::format("{} {} {} {} {}", sum.ready, sum.waiting, sum.running,
                                 sum.completed, sum.failed);
    if (now == last_status_) return;
    last_status_ = now;
    context_.log.info("status", {{"per_second", sum.per_second},
                                 {"ready", sum.ready},
                                 {"waiting", sum.waiting},
                                 {"running", sum.running},
                                 {"completed", sum.completed},
                                 {"failed", sum.failed}});
  }

  Result<int> stop(int number) {
    stopping_ = true;
    if (number != 0) say("stopping   finishing what runs; again to stop at once");
    engine_->drain();
    const auto stuck = service_ ? service_->stop().stuck_connections : 0;
    bool killed = false;
    while (!engine_->finished()) {
      if (!signals_.wait(milliseconds(50))) continue;
      killed = true;
      engine_->kill();
    }
    const auto report = engine_->join();
    // What handlers that have not returned still use stays until the process ends below.
    if (stuck == 0) service_.reset();
    store_.reset();
    if (private_) {
      auto stopped = private_->cluster.stop();
      if (!stopped) context_.log.error("cluster_stop", {{"error", stopped.error().message}});
    }
    const auto* failure = failure_ ? &*failure_ : (report ? nullptr : &report.error());
    if (failure == nullptr) say("stopped");
    if (stuck > 0 || (report && report->stuck_handlers > 0)) {
      ready_file_.reset();
      if (failure != nullptr) say(error_line(*failure));
      // Their threads cannot be ended.
      std::_Exit(failure != nullptr ? exit_code_of(*failure) : killed ? kExitTerminated : kExitOk);
    }
    if (failure != nullptr) return fail(*failure);
    if (!killed) return kExitOk;
    return number == SIGINT ? kExitInterrupted : kExitTerminated;
  }

  Context& context_;
  const Options& options_;
  SignalWaiter signals_;  // Before anything that starts threads.
  std::unique_ptr<ReadyFile> ready_file_;
  LiveView view_;
  Database database_;
  std::unique_ptr<PrivateDatabase> private_;
  std::unique_ptr<store::AdminStore> store_;
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<RunTelemetry> run_telemetry_;
  std::unique_ptr<HttpService> service_;
  std::unique_ptr<store::WakeSource> wake_;  // Of the service, for the engine.
  std::unique_ptr<Engine> engine_;
  QueueMeter meter_;
  std::string last_status_ = "0 0 0 0 0";
  std::optional<Error> failure_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace

void add_up_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command =
      root.add("up", "Run everything: database, server, keeper and a worker").group("Running");
  command.flag("--no-worker", options->no_worker, "Without a worker");
  command.flag("--no-server", options->no_server, "Without the HTTP server");
  command.option("--listen", "ADDRESS", options->listen,
                 "Where the server listens (default: server.listen, else a free port)");
  command.option("--slots", "N", options->slots, "Jobs at once (default: worker.slots)");
  command.option("--ready-file", "PATH", options->ready_file, "JSON file written once ready")
      .files();
  command.footer(
      "Without DATABASE_URL a private PostgreSQL is made in --data-dir (.millrace) and stopped\n"
      "again at the end; its data stays.");
  command.service();
  command.action([options](Context& context) -> Result<int> {
    if (options->slots) {
      MR_TRY_VOID(
          context.settings.set_flag("worker.slots", fmt::format("{}", *options->slots), "--slots"));
    }
    if (!options->listen.empty()) {
      std::string joined;
      for (const auto& address : options->listen) joined += (joined.empty() ? "" : ",") + address;
      MR_TRY_VOID(context.settings.set_flag("server.listen", joined, "--listen"));
    }
    return Up(context, *options).run();
  });
}

}  // namespace millrace::app
