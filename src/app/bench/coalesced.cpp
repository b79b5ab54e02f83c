// Single calls of many threads, joined into few commits by the C++ client; each call is answered
// only when its job is durable.
#include "app/bench/rows.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <millrace/producer.h>

#include <deque>

namespace millrace::app {

// Set where the client library has a producer that joins calls.
#ifdef MILLRACE_SHARED_PRODUCER
namespace {

using client::SharedProducer;

client::JobSpec spec(const World& world, std::int64_t number) {
  client::JobSpec job;
  job.job_type = kNoopType;
  job.payload = world.payload(number);
  job.queue = kBenchQueue;
  return job;
}

Error from_client(const client::Error& error) {
  return {.kind = ErrorKind::unavailable, .message = error.message, .sqlstate = error.sqlstate};
}

// A thread that waits for each answer before its next call.
ClientWork waiting(World& world, SharedProducer& producer) {
  return [&world, &producer](const ClientRun& run) -> Result<std::int64_t> {
    std::int64_t done = 0;
    for (; done < run.jobs && !run.stop; ++done) {
      const auto answer = producer.enqueue(spec(world, done));
      if (!answer) return fail(from_client(answer.error()));
    }
    return done;
  };
}

// A thread that keeps so many calls under way; counted when answered.
ClientWork ahead(World& world, SharedProducer& producer, std::size_t window) {
  return [&world, &producer, window](const ClientRun& run) -> Result<std::int64_t> {
    std::deque<std::future<client::Result<client::Enqueued>>> under_way;
    std::int64_t sent = 0;
    std::int64_t done = 0;
    while (done < run.jobs) {
      const bool more = sent < run.jobs && !run.stop;
      if (!more && under_way.empty()) break;
      if (more && under_way.size() < window) {
        under_way.push_back(producer.enqueue_async(spec(world, sent++)));
        continue;
      }
      const auto answer = under_way.front().get();
      if (!answer) return fail(from_client(answer.error()));
      under_way.pop_front();
      ++done;
    }
    return done;
  };
}

struct Case {
  std::string name;
  std::size_t threads = 1;
  std::function<ClientWork(SharedProducer& producer)> work;
};

Result<void> measure(World& world, store::AdminStore& store, const Case& one, Measured& measured) {
  const double seconds = world.options().seconds > 0 ? world.options().seconds : 3;
  MR_TRY(const auto quiet, store::other_sessions(store.connection()));
  auto connected = SharedProducer::connect(world.database().url);
  if (!connected) return fail(from_client(connected.error()));
  std::optional<SharedProducer> producer(std::move(*connected));
  const std::vector<ClientWork> works(one.threads, one.work(*producer));
  store::checkpoint(store.connection());
  MR_TRY(const auto before, world.read(store));
  MR_TRY(const auto load,
         run_clients(world, world.options().jobs.value_or(100'000'000), seconds, works));
  MR_TRY(const auto end, world.read(store));
  producer.reset();  // Its backends report what they counted when they end.
  MR_TRY(const auto after, world.read_after(store, quiet));
  measured.cost += cost_between(before, end, after, load.jobs);
  measured.samples.push_back(load.rate());
  world.tell(measured.name, load.rate(), measured.unit);
  return {};
}

}  // namespace

Cases bench_coalesced(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto threads = static_cast<std::size_t>(
      world.options().clients.empty() ? 64 : world.options().clients.front());
  const std::vector<Case> all{
      {fmt::format("{} threads that wait for each answer", threads), threads,
       [&world](SharedProducer& producer) { return waiting(world, producer); }},
      {"4 threads with 1000 calls under way each", 4,
       [&world](SharedProducer& producer) { return ahead(world, producer, 1000); }}};
  std::vector<Measured> results;
  for (const auto& one : all) {
    results.push_back({.name = one.name, .unit = "calls/s", .samples = {}});
  }
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      MR_TRY_VOID(measure(world, store, all[i], results[i]));
    }
  }
  return results;
}

#else

Cases bench_coalesced(World&) {
  Measured measured{.name = "joined calls", .unit = "calls/s", .samples = {}};
  measured.extra["reason"] = "the C++ client does not join single calls yet";
  return std::vector<Measured>{std::move(measured)};
}

#endif

}  // namespace millrace::app
