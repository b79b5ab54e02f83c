#include "app/bench/load.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <latch>
#include <mutex>

namespace millrace::app {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kFillBatch = 10'000;

}  // namespace

Result<LoadResult> run_clients(const World& world, std::int64_t jobs, double seconds,
                               const std::vector<ClientWork>& clients) {
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> done = 0;
  std::mutex mutex;  // Guards failure.
  std::optional<Error> failure;
  std::latch start(static_cast<std::ptrdiff_t>(clients.size()) + 1);
  std::latch finished(static_cast<std::ptrdiff_t>(clients.size()));
  std::vector<std::jthread> threads;
  const auto share = jobs / std::ssize(clients);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      const auto count = clients[i]({.number = static_cast<int>(i), .jobs = share, .stop = stop});
      if (count) {
        done += *count;
      } else {
        const std::lock_guard lock(mutex);
        failure = count.error();
      }
      finished.count_down();
    });
  }
  start.arrive_and_wait();
  const auto begin = world.context().clock.now();
  const auto end = begin + std::chrono::duration_cast<Clock::Duration>(Seconds(seconds));
  while (seconds > 0 && !finished.try_wait() && world.context().clock.now() < end) {
    world.pause_until(std::min(end, world.context().clock.now() + std::chrono::milliseconds(2)));
  }
  if (seconds > 0) stop = true;
  finished.wait();
  const double took = world.since(begin);
  threads.clear();
  if (failure) return fail(*failure);
  return LoadResult{.jobs = done, .seconds = took};
}

Result<std::vector<ClientWork>> single_clients(World& world, int clients) {
  std::vector<ClientWork> all;
  for (int i = 0; i < clients; ++i) {
    MR_TRY(auto plain, store::PlainClient::connect(world.database().url,
                                                   std::string(store::enqueue_job_statement())));
    auto client = std::make_shared<store::PlainClient>(std::move(plain));  // Kept by its work.
    all.emplace_back([client, &world](const ClientRun& run) -> Result<std::int64_t> {
      const auto options = fmt::format(R"({{"queue":"{}"}})", kBenchQueue);
      std::int64_t done = 0;
      for (; done < run.jobs && !run.stop; ++done) {
        MR_TRY_VOID(client->call({kNoopType, world.payload(done), options}));
      }
      return done;
    });
  }
  return all;
}

Result<std::vector<ClientWork>> array_clients(World& world, int clients, int batch) {
  std::vector<ClientWork> all;
  for (int i = 0; i < clients; ++i) {
    MR_TRY(auto connected, world.connect());
    auto store = std::make_shared<store::AdminStore>(std::move(connected));  // Kept by its work.
    all.emplace_back([store, batch, &world](const ClientRun& run) -> Result<std::int64_t> {
      std::int64_t done = 0;
      while (done < run.jobs && !run.stop) {
        std::vector<std::string> payloads;
        const auto count = std::min<std::int64_t>(batch, run.jobs - done);
        for (std::int64_t j = 0; j < count; ++j) payloads.push_back(world.payload(done + j));
        MR_TRY_VOID(store->enqueue_array(kNoopType, payloads, {{"queue", kBenchQueue}}));
        done += count;
      }
      return done;
    });
  }
  return all;
}

Result<std::vector<ClientWork>> copy_clients(World& world, int clients, int batch) {
  std::vector<ClientWork> all;
  for (int i = 0; i < clients; ++i) {
    MR_TRY(auto connected, world.connect());
    auto store = std::make_shared<store::AdminStore>(std::move(connected));  // Kept by its work.
    all.emplace_back([store, batch, &world](const ClientRun& run) -> Result<std::int64_t> {
      std::int64_t done = 0;
      while (done < run.jobs && !run.stop) {
        const auto count = std::min<std::int64_t>(batch, run.jobs - done);
        MR_TRY_VOID(store->copy_jobs(kNoopType, kBenchQueue, count,
                                     [&](std::int64_t j) { return world.payload(done + j); }));
        done += count;
      }
      return done;
    });
  }
  return all;
}

Result<void> fill(World& world, std::int64_t jobs) {
  if (jobs <= 0) return {};
  const int clients = jobs >= 2 * kFillBatch ? 2 : 1;
  MR_TRY(const auto work, copy_clients(world, clients, kFillBatch));
  MR_TRY(const auto filled, run_clients(world, jobs, 0, work));
  if (filled.jobs == jobs) return {};
  MR_TRY(const auto rest, copy_clients(world, 1, kFillBatch));  // Of the division by clients.
  MR_TRY_VOID(run_clients(world, jobs - filled.jobs, 0, rest));
  return {};
}

Result<void> fill_rows(store::AdminStore& store, const std::string& type, std::int64_t jobs,
                       const std::function<store::IntakeRow(std::int64_t)>& row) {
  for (std::int64_t done = 0; done < jobs; done += kFillBatch) {
    MR_TRY_VOID(store::copy_keyed_jobs(store.connection(), type, kBenchQueue,
                                       std::min(kFillBatch, jobs - done),
                                       [&](std::int64_t i) { return row(done + i); }));
  }
  return {};
}

}  // namespace millrace::app
