#include "app/engine.h"

#include "app/observe/call_metrics.h"
#include "base/run.h"
#include "base/version.h"
#include "keeper/keeper.h"
#include "pg/pool.h"
#include "store/pg_job_store.h"
#include "store/pg_keeper_store.h"
#include "store/pg_wake_source.h"
#include "store/recorded_job_store.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace millrace::app {
namespace {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

// What the keeper of this process did (O-09): each duty has its success rate.
std::function<void(std::string_view, bool, std::int64_t)> count_duties(MetricRegistry& metrics) {
  auto& rounds = metrics.family({.name = "millrace_keeper_rounds_total",
                                 .help = "Rounds of the keeper's duties in this process.",
                                 .labels = {"duty", "result"}});
  auto& handled = metrics.family({.name = "millrace_keeper_handled_total",
                                  .help = "Rows that the keeper's duties handled.",
                                  .labels = {"duty"}});
  return [&rounds, &handled](std::string_view duty, bool succeeded, std::int64_t count) {
    rounds.counter({duty, succeeded ? "ok" : "failed"}).add();
    handled.counter({duty}).add(static_cast<double>(std::max<std::int64_t>(count, 0)));
  };
}

}  // namespace

struct Engine::Parts {
  Parts(Context& owner, EngineOptions chosen) : context(owner), options(std::move(chosen)) {}

  void run();
  void tell(std::atomic<bool>& flag);
  awaitable<void> work();
  Task<worker::RunReport> run_worker();

  Context& context;
  EngineOptions options;
  CallMetrics calls{context.metrics};
  boost::asio::io_context io{1};
  std::thread thread;

  std::atomic<bool> done = false;
  std::atomic<bool> is_ready = false;
  std::atomic<bool> drain_asked = false;
  std::atomic<bool> kill_asked = false;
  mutable std::mutex mutex;                 // Guards id and the pointer to the runtime.
  mutable std::condition_variable changed;  // is_ready or done was set.
  std::string id;
  worker::Runtime* runtime = nullptr;
  Event stop_keeper;  // For a process without a worker.
  Result<worker::RunReport> report = worker::RunReport{};
};

void Engine::Parts::run() {
  run_blocking(io, work());
  tell(done);
}

void Engine::Parts::tell(std::atomic<bool>& flag) {
  {
    const std::lock_guard lock(mutex);
    flag = true;
  }
  changed.notify_all();
}

awaitable<void> Engine::Parts::work() {
  const auto pool = [&](const char* role, const char* name, std::size_t connections) {
    return pg::Pool(io.get_executor(), connect_as(options.database, role, name),
                    {.connections_max = connections}, context.random);
  };
  auto keeper_pool = pool("millrace_keeper", "millrace-keeper", 2);
  store::PgKeeperStore keeper_store(keeper_pool);
  keeper::Keeper keeper(io.get_executor(), keeper_store, context.clock, context.random, context.log,
                        {.holder = fmt::format("{}-{}-{:08x}", host_name(), ::getpid(),
                                               static_cast<std::uint32_t>(context.random.next())),
                         .ttl = keeper::keeper_ttl(options.worker.lease),
                         .on_duty = count_duties(context.metrics)});
  if (options.run_keeper) {
    keeper.start();
    options.worker.on_hint = [&keeper] { keeper.nudge(); };
  }
  if (options.run_worker) {
    report = co_await run_worker();
  } else {
    tell(is_ready);
    (void)co_await stop_keeper.wait();
  }
  co_await keeper.stop();
  keeper_pool.close();
}

Task<worker::RunReport> Engine::Parts::run_worker() {
  pg::Pool work_pool(io.get_executor(),
                     connect_as(options.database, "millrace_worker", "millrace-worker"),
                     {.connections_max = 4, .grow_after = pg::kGrowAfter}, context.random);
  pg::Pool beat_pool(io.get_executor(),
                     connect_as(options.database, "millrace_worker", "millrace-beat"),
                     {.connections_max = 1}, context.random);
  store::PgJobStore pg_store(work_pool, beat_pool);
  store::RecordedJobStore store(pg_store);
  auto listen = options.database;
  if (!options.listen_url.empty()) listen.url = options.listen_url;
  store::PgWakeSource own_wake(connect_as(listen, "millrace_worker", "millrace-listen"));

  // Handlers ask beside the engine: a slow question of theirs holds up no settlement.
  pg::Pool handler_pool(io.get_executor(),
                        connect_as(options.database, "millrace_worker", "millrace-handlers"),
                        {.connections_max = 4, .grow_after = pg::kGrowAfter}, context.random);
  http::Client client(io.get_executor(), {.call_watch = &calls});
  MR_CO_TRY(
      auto handlers,
      options.handlers({.client = client, .pool = handler_pool, .executor = io.get_executor()}));
  auto worker = options.worker;
  worker.on_registered = [this, told = options.worker.on_registered](const std::string& worker_id) {
    {
      const std::lock_guard lock(mutex);
      id = worker_id;
    }
    tell(is_ready);
    if (told) told(worker_id);
  };
  worker::Runtime running(io.get_executor(),
                          {.store = store,
                           .wake = options.wake != nullptr ? options.wake : &own_wake,
                           .clock = context.clock,
                           .random = context.random,
                           .log = context.log},
                          std::move(worker), std::move(handlers));
  {
    const std::lock_guard lock(mutex);
    runtime = &running;
    if (drain_asked) running.drain();
    if (kill_asked) running.kill();
  }
  auto result = co_await running.run();
  {
    const std::lock_guard lock(mutex);
    runtime = nullptr;
  }
  co_return result;
}

Engine::Engine(Context& context, EngineOptions options)
    : parts_(std::make_unique<Parts>(context, std::move(options))) {}

Engine::~Engine() {
  if (!parts_->thread.joinable()) return;
  kill();
  (void)join();
}

void Engine::start() {
  parts_->thread = std::thread([parts = parts_.get()] { parts->run(); });
}

void Engine::drain() {
  parts_->drain_asked = true;
  const std::lock_guard lock(parts_->mutex);
  if (parts_->runtime != nullptr) parts_->runtime->drain();
  parts_->stop_keeper.set();
}

void Engine::kill() {
  parts_->kill_asked = true;
  const std::lock_guard lock(parts_->mutex);
  if (parts_->runtime != nullptr) parts_->runtime->kill();
  parts_->stop_keeper.set();
}

bool Engine::finished() const { return parts_->done; }
bool Engine::draining() const { return parts_->drain_asked || parts_->kill_asked; }
bool Engine::ready() const { return parts_->is_ready; }

bool Engine::wait_ready(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(parts_->mutex);
  parts_->changed.wait_for(lock, timeout, [&] { return parts_->is_ready || parts_->done; });
  return parts_->is_ready;
}

std::string Engine::worker_id() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->id;
}

Result<worker::RunReport> Engine::join() {
  if (parts_->thread.joinable()) parts_->thread.join();
  return parts_->report;
}

worker::Options worker_options(const Context& context) {
  const auto& settings = context.settings;
  worker::Options options;
  const auto& prefix = settings.text("worker.id");
  if (!prefix.empty()) options.worker_id_prefix = prefix;
  options.host = host_name();
  options.pid = ::getpid();
  options.version = kVersion;
  options.slots = static_cast<int>(settings.integer("worker.slots"));
  options.prefetch = static_cast<int>(settings.integer("worker.prefetch"));
  options.lease = settings.duration("worker.lease");
  options.poll_interval = settings.duration("worker.poll_interval");
  options.drain_timeout = settings.duration("worker.drain_timeout");
  return options;
}

}  // namespace millrace::app
