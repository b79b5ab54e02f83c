#include "client/engine.h"

#include "base/run.h"
#include "base/version.h"
#include "keeper/keeper.h"
#include "pg/pool.h"
#include "store/pg_job_store.h"
#include "store/pg_keeper_store.h"
#include "store/pg_wake_source.h"
#include "store/recorded_job_store.h"
#include "worker/runtime.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <array>
#include <unistd.h>

namespace millrace::client {
namespace {

pg::ConnectOptions connect(const std::string& url, std::string name) {
  auto options = pg::connect_options(url);
  options.application_name = std::move(name);
  return options;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

awaitable<millrace::Result<worker::RunReport>> run_both(worker::Runtime& runtime,
                                                        keeper::Keeper* keeper) {
  if (keeper != nullptr) keeper->start();
  auto report = co_await runtime.run();
  if (keeper != nullptr) co_await keeper->stop();
  co_return report;
}

}  // namespace

Engine::Engine(EngineOptions options, Logger log)
    : options_(std::move(options)), log_(std::move(log)) {
  options_.worker.host = host_name();
  options_.worker.pid = getpid();
  options_.worker.version = kVersion;
}

Engine::~Engine() = default;

millrace::Result<void> Engine::run(worker::HandlerRegistry handlers) {
  boost::asio::io_context io(1);
  const auto executor = io.get_executor();
  pg::Pool work(executor, connect(options_.database_url, "millrace worker"),
                {.connections_max = 3, .grow_after = pg::kGrowAfter}, random_);
  pg::Pool beats(executor, connect(options_.database_url, "millrace heartbeat"),
                 {.connections_max = 1}, random_);
  // What a keeper does must not stand in line behind the settlements of its neighbour.
  pg::Pool keeping(executor, connect(options_.database_url, "millrace keeper"),
                   {.connections_max = 2}, random_);
  store::PgJobStore pg_store(work, beats);
  store::RecordedJobStore job_store(pg_store);
  store::PgWakeSource wake(connect(options_.database_url, "millrace listener"));
  store::PgKeeperStore keeper_store(keeping);
  worker::Runtime runtime(
      executor,
      {.store = job_store, .wake = &wake, .clock = clock_, .random = random_, .log = log_},
      options_.worker, std::move(handlers));
  keeper::Keeper keeper(
      executor, keeper_store, clock_, random_, log_,
      {.holder = fmt::format("{}-{}", options_.worker.worker_id_prefix, random_.uuid()),
       .ttl = keeper::keeper_ttl(options_.worker.lease)});
  {
    const std::lock_guard lock(mutex_);
    runtime_ = &runtime;
    if (draining_) runtime.drain();
  }
  auto report = run_blocking(io, run_both(runtime, options_.keeper ? &keeper : nullptr));
  {
    const std::lock_guard lock(mutex_);
    runtime_ = nullptr;
  }
  if (!report) return std::unexpected(std::move(report).error());
  return {};
}

void Engine::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  if (runtime_ != nullptr) runtime_->drain();
}

}  // namespace millrace::client
