#include "app/demo/demo.h"

#include "app/commands/watch.h"
#include "app/demo/account.h"
#include "app/demo/demo_host.h"
#include "app/demo/stand_in.h"
#include "app/demo/workload.h"
#include "app/engine.h"
#include "app/exit_code.h"
#include "app/live_view.h"
#include "app/private_database.h"
#include "app/signals.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>
#include <unistd.h>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

class Demo {
 public:
  Demo(Context& context, const DemoOptions& options)
      : context_(context), options_(options), view_(context), begun_(context.clock.now()) {}

  Result<int> run() {
    MR_TRY_VOID(set_up());
    MR_TRY_VOID(start());
    MR_TRY(const bool finished, watch());
    view_.finish();
    if (interrupted_) {
      stop();
      return kExitInterrupted;
    }
    if (!finished) say(paint(Style::red, "\nnot everything ended in time"));
    MR_TRY(const bool good, report());
    if (options_.keep && good) keep_running();
    stop();
    if (good) next_steps();
    return good && finished ? kExitOk : kExitInternal;
  }

 private:
  void say(const std::string& line) {
    if (!context_.json()) view_.print_above(line);
  }
  std::string paint(Style style, const std::string& text) const {
    return context_.terminal.paint(style, text);
  }
  double elapsed() const { return Seconds(context_.clock.now() - begun_).count(); }

  Result<void> set_up() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot create {}: {}", options_.folder.string(), error.message()));
    }
    // The demo is looked at, not logged; what goes wrong is shown.
    context_.log = Logger(
        context_.clock, [this](std::string_view line) { view_.print_above(line); },
        Logger::Format::text,
        context_.settings.is_set("log.level")
            ? parse_log_level(context_.settings.text("log.level")).value()
            : LogLevel::error);
    say(paint(Style::bold, "Millrace demo: every kind of job through a private PostgreSQL"));
    MR_TRY(auto ledger, Ledger::create(options_.folder / "ledger.txt"));
    ledger_ = std::make_unique<Ledger>(std::move(ledger));
    PrivateDatabase::Options open{.data_dir = options_.folder / ".millrace", .fresh = true};
    MR_TRY(auto opened, PrivateDatabase::open(context_, open));
    database_ = std::make_unique<PrivateDatabase>(std::move(opened));
    say(fmt::format("  {:5.1f} s  PostgreSQL {} {} in {}", elapsed(), database_->cluster.version(),
                    database_->started.created ? "created" : "started", open.data_dir.string()));
    MR_TRY(stand_in_, StandIn::start(*ledger_));
    return {};
  }

  Result<void> start() {
    workload_ = std::make_unique<Workload>(context_, *ledger_,
                                           Workload::Options{.folder = options_.folder,
                                                             .examples = example_folder("exec"),
                                                             .http_url = stand_in_->url(),
                                                             .scale = options_.scale});
    MR_TRY(auto store, context_.connect_to(database_->database));
    store_ = std::make_unique<store::AdminStore>(std::move(store));
    MR_TRY_VOID(workload_->prepare(*store_));
    EngineOptions engine;
    engine.database = database_->database;
    engine.worker = worker_options(context_);
    engine.worker.worker_id_prefix = "demo";
    engine.worker.slots = 48;
    engine.worker.prefetch = 0;  // A job that waits in the worker would blur the limits shown.
    engine.worker.drain_timeout = 5s;
    engine.worker.queues = workload_->queues();
    engine.handlers = [this](const HandlerParts& parts) {
      return workload_->registry(parts.client);
    };
    engine_ = std::make_unique<Engine>(context_, std::move(engine));
    engine_->start();
    const auto before = context_.clock.now();
    MR_TRY_VOID(workload_->enqueue(*store_));
    std::int64_t total = 0;
    for (const auto& [type, count] : workload_->enqueued()) total += count;
    tell_first_job();
    say(fmt::format("  {:5.1f} s  enqueued {} jobs in {:.0f} ms", elapsed(), group_digits(total),
                    Seconds(context_.clock.now() - before).count() * 1000));
    return {};
  }

  void tell_first_job() {
    const auto first = workload_->first_job();
    if (told_first_ || !first) return;
    told_first_ = true;
    say(fmt::format("  {:5.1f} s  first job ran", Seconds(*first - begun_).count()));
  }

  // False when time was up first.
  Result<bool> watch() {
    auto next_line = context_.clock.now();
    for (;;) {
      MR_TRY(const auto counts, store_->count_types());
      MR_TRY(const bool operator_busy, workload_->nudge(*store_, counts));
      std::int64_t live = 0;
      for (const auto& row : counts) live += row.live();
      tell_first_job();
      if (view_.active()) {
        view_.draw(render(counts));
      } else if (context_.clock.now() >= next_line) {
        next_line = context_.clock.now() + 1s;
        say(progress_line(counts));
      }
      // The batch's last job counts as live only once it is there.
      if (live == 0 && !operator_busy && batch_ended(counts)) return true;
      if (engine_->finished()) {
        const auto ended = engine_->join();
        if (!ended) return fail(ended.error());
        return false;
      }
      if (context_.clock.now() - begun_ > options_.timeout) return false;
      if (signals_.wait(view_.active() ? 150ms : 250ms)) {
        interrupted_ = true;
        return false;
      }
    }
  }

  static bool batch_ended(const std::vector<store::TypeCounts>& counts) {
    for (const auto& row : counts) {
      if (row.job_type == "demo.batch_end") return row.live() == 0;
    }
    return false;
  }

  static store::TypeCounts counts_of(const std::vector<store::TypeCounts>& counts,
                                     const std::string& job_type) {
    for (const auto& row : counts) {
      if (row.job_type == job_type) return row;
    }
    return {.job_type = job_type};
  }

  std::string render(const std::vector<store::TypeCounts>& counts) const {
    std::string out = "\n";
    std::int64_t all = 0;
    std::int64_t ended = 0;
    for (const auto& kind : workload_->kinds()) {
      const auto row = counts_of(counts, kind.job_type);
      const auto finished = row.completed + row.failed + row.cancelled;
      const auto total = std::max(kind.total, row.total());
      all += total;
      ended += finished;
      const double share =
          total == 0 ? 0 : static_cast<double>(finished) / static_cast<double>(total);
      std::string state = kind.about;
      if (row.running > 0) state = fmt::format("{} running", row.running);
      if (row.waiting > 0) {
        state += fmt::format("{}{} waiting", row.running > 0 ? ", " : " · ", row.waiting);
      }
      const auto style = finished < total                      ? Style::cyan
                         : row.failed > 0 || row.cancelled > 0 ? Style::yellow
                                                               : Style::green;
      std::string ending;
      if (row.failed > 0) ending += fmt::format(" {} failed", row.failed);
      if (row.cancelled > 0) ending += fmt::format(" {} cancelled", row.cancelled);
      out += fmt::format("  {:<13} {} {:>11} {} {}\n", kind.title,
                         context_.terminal.paint(style, bar(share, 24, context_.terminal.unicode)),
                         fmt::format("{}/{}", finished, total),
                         context_.terminal.paint(Style::dim, state),
                         context_.terminal.paint(Style::yellow, ending));
    }
    out += fmt::format("  {:<13} {} {:>11} {:.1f} s\n", "all",
                       bar(all == 0 ? 0 : static_cast<double>(ended) / static_cast<double>(all), 24,
                           context_.terminal.unicode),
                       fmt::format("{}/{}", ended, all), elapsed());
    return out;
  }

  std::string progress_line(const std::vector<store::TypeCounts>& counts) const {
    store::TypeCounts sum;
    for (const auto& row : counts) {
      sum.ready += row.ready;
      sum.waiting += row.waiting;
      sum.running += row.running;
      sum.completed += row.completed;
      sum.failed += row.failed;
      sum.cancelled += row.cancelled;
    }
    return fmt::format(
        "  {:5.1f} s  {:>5} completed  {:>3} failed  {:>3} cancelled  {:>3} running  {:>4} waiting"
        "  {:>5} ready",
        elapsed(), sum.completed, sum.failed, sum.cancelled, sum.running, sum.waiting, sum.ready);
  }

  Result<bool> report() {
    MR_TRY(const auto states, store_->job_states());
    MR_TRY(const auto counters, store_->counts());
    MR_TRY(const auto lines, Ledger::read(ledger_->path()));
    const auto account = balance({.enqueued = workload_->enqueued(),
                                  .no_ledger = workload_->types_without_ledger(),
                                  .states = states,
                                  .ledger = lines,
                                  .counters = counters});
    const auto checks = workload_->checks(lines, states);
    const bool checks_hold = std::ranges::all_of(checks, &DemoCheck::holds);
    const bool good = account.problems.empty() && checks_hold && account.total.live == 0;
    if (context_.json()) {
      print_json(account, checks, good);
    } else {
      print_account(account, checks);
    }
    return good;
  }

  void print_account(const Account& account, const std::vector<DemoCheck>& checks) {
    say(paint(Style::bold, "\nThe account"));
    Table table({left("KIND"), right("ENQUEUED"), left("="), right("COMPLETED"), right("FAILED"),
                 right("CANCELLED"), right("LIVE"), left(""), right("BY THE LEDGER")});
    const auto add = [&](const std::string& title, const AccountRow& row, bool silent) {
      table.add({Cell(title), Cell(row.enqueued), Cell("="), Cell(row.completed), Cell(row.failed),
                 Cell(row.cancelled), Cell(row.live),
                 row.balanced() ? Cell("ok", Style::green) : Cell("WRONG", Style::red),
                 silent ? Cell("-", Style::dim) : Cell(row.ledger_done)});
    };
    for (const auto& kind : workload_->kinds()) {
      const auto row = std::ranges::find(account.rows, kind.job_type, &AccountRow::job_type);
      if (row != account.rows.end()) add(kind.title, *row, row->completed == 0);
    }
    add("total", account.total, false);
    context_.print(table.render(context_.terminal));
    context_.print("\n");
    for (const auto& check : checks) {
      const auto mark = check.holds ? paint(Style::green, "ok   ") : paint(Style::red, "WRONG");
      context_.print(fmt::format("  {} {} ({})\n", mark, check.claim, check.detail));
    }
    for (const auto& problem : account.problems) {
      context_.print(fmt::format("  {} {}\n", paint(Style::red, "WRONG"), problem));
    }
    context_.print(account.problems.empty()
                       ? fmt::format("  {} the account balances to the job: engine, counters and "
                                     "ledger ({}) agree\n",
                                     paint(Style::green, "ok   "), ledger_->path().string())
                       : std::string());
  }

  void print_json(const Account& account, const std::vector<DemoCheck>& checks, bool good) {
    json::Array kinds;
    for (const auto& row : account.rows) {
      kinds.emplace_back(json::Object{{"job_type", row.job_type},
                                      {"enqueued", row.enqueued},
                                      {"completed", row.completed},
                                      {"failed", row.failed},
                                      {"cancelled", row.cancelled},
                                      {"live", row.live},
                                      {"ledger_done", row.ledger_done}});
    }
    json::Array claims;
    for (const auto& check : checks) {
      claims.emplace_back(
          json::Object{{"claim", check.claim}, {"holds", check.holds}, {"detail", check.detail}});
    }
    json::Array problems;
    for (const auto& problem : account.problems) problems.emplace_back(problem);
    const auto first = workload_->first_job();
    context_.print_json(
        json::Object{{"balanced", good},
                     {"kinds", std::move(kinds)},
                     {"checks", std::move(claims)},
                     {"problems", std::move(problems)},
                     {"first_job_seconds",
                      first ? json::Value(Seconds(*first - begun_).count()) : json::Value()},
                     {"seconds", elapsed()}});
  }

  void keep_running() {
    const auto data_dir = (options_.folder / ".millrace").string();
    say(
        fmt::format("\nStill running (KEEP=1). In another terminal:\n"
                    "  build/release/millrace --data-dir {} jobs list\n"
                    "  build/release/millrace --data-dir {} psql\n"
                    "Ctrl-C stops it.",
                    data_dir, data_dir));
    while (!signals_.wait(500ms) && !engine_->finished()) {
    }
  }

  void stop() {
    if (engine_) {
      engine_->drain();
      (void)engine_->join();
    }
    store_.reset();
    stand_in_.reset();
    if (database_) {
      auto stopped = database_->cluster.stop();
      if (!stopped) context_.log.error("cluster_stop", {{"error", stopped.error().message}});
    }
  }

  void next_steps() {
    const auto data_dir = (options_.folder / ".millrace").string();
    const auto line = [this](const std::string& command, const char* about) {
      say(fmt::format("  {:<56} {}", command, paint(Style::dim, about)));
    };
    say(fmt::format("\nEverything is stopped after {:.1f} s. Next:", elapsed()));
    line("build/release/millrace up", "a database of your own in .millrace");
    line("build/release/millrace up --data-dir " + data_dir,
         "these jobs again: jobs list, dlq groups");
    line("make demo KEEP=1", "the demo, and stay up");
    line("make test", "prove it");
    say(fmt::format("Thumbnails and the ledger are in {}.", options_.folder.string()));
  }

  Context& context_;
  const DemoOptions& options_;
  SignalWaiter signals_;  // Before anything that starts threads.
  LiveView view_;
  Clock::Steady begun_;
  bool interrupted_ = false;
  bool told_first_ = false;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<PrivateDatabase> database_;
  std::unique_ptr<StandIn> stand_in_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<store::AdminStore> store_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

Result<int> run_job_demo(Context& context, const DemoOptions& options) {
  return Demo(context, options).run();
}

}  // namespace millrace::app
