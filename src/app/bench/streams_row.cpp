// Live streams: what so many open ones take of the server's memory, how soon all of them hear of an
// event, and what they ask of the database while they listen.
#include "app/bench/rows.h"
#include "app/bench/streams.h"
#include "identity/token_maker.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::app {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kEvents = 100;  // Of each repeat.
constexpr double kListenSeconds = 5;   // Longer than an idle backend keeps its counts to itself.

struct Server {
  WorkerGroup process;
  StreamLoadOptions load;
};

// As it ships, but for the rate of a tenant, and without a line in the log for each request.
Result<Server> start_server(World& world) {
  auto& context = world.context();
  const auto secret = fmt::format("{}{}", context.random.uuid(), context.random.uuid());
  const auto settings = fmt::format(
      "[log]\nlevel = \"warn\"\n[server]\nlisten = [\"127.0.0.1:0\"]\nrequests_per_minute = 0\n"
      "connections_per_address_max = 0\n[auth]\njwt_secret = \"{}\"\n",
      secret);
  StreamLoadOptions load{.streams = world.options().connections,
                         .job_type = kNoopType,
                         .queue = kBenchQueue,
                         .payload_bytes = world.options().payload_bytes};
  MR_TRY(auto process, WorkerGroup::start_server(world, settings, load.url));
  MR_TRY(const auto maker, identity::TokenMaker::make({.secret = Secret<std::string>(secret)},
                                                      context.clock, context.random));
  MR_TRY(const auto made,
         maker.make_token({.role = identity::Role::service_role, .ttl = std::chrono::hours(24)}));
  load.token = made.token.reveal();
  return Server{.process = std::move(process), .load = std::move(load)};
}

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

struct Results {
  Measured last;
  Measured each;
  Measured memory;
  Measured per_stream;
  Measured asked;
};

// Transactions a second of the whole database while nothing happens and all listen.
Result<double> listen_quietly(World& world, store::AdminStore& store) {
  MR_TRY(const auto before, world.read(store));
  world.pause_until(world.context().clock.now() +
                    std::chrono::duration_cast<Clock::Duration>(Seconds(kListenSeconds)));
  MR_TRY(const auto after, world.read(store));
  const auto commits = static_cast<double>(after.server.commits - before.server.commits);
  return commits / Seconds(after.at - before.at).count();
}

Result<void> measure(World& world, store::AdminStore& store, Results& results) {
  MR_TRY(auto server, start_server(world));
  MR_TRY(const auto alone, listen_quietly(world, store));
  const auto empty = server.process.resident();
  MR_TRY(auto load, StreamLoad::open(server.load, world.context().clock, world.context().random));
  StreamTimes times;
  MR_TRY_VOID(load->measure(world.options().jobs.value_or(kEvents), times));
  // With everything that sending has made it take.
  const auto resident = server.process.resident();
  MR_TRY(const auto asked, listen_quietly(world, store));
  results.last.samples.push_back(percentile(times.last, 0.99));
  results.each.samples.push_back(percentile(times.each, 0.99));
  results.memory.samples.push_back(megabytes(resident));
  results.per_stream.samples.push_back(static_cast<double>(resident - empty) / 1e3 /
                                       static_cast<double>(server.load.streams));
  results.asked.samples.push_back(asked);
  results.last.times.insert(results.last.times.end(), times.last.begin(), times.last.end());
  results.each.times.insert(results.each.times.end(), times.each.begin(), times.each.end());
  results.asked.extra["without_streams"] = alone;
  results.memory.extra["empty_mb"] = megabytes(empty);
  results.memory.extra["opened_in_seconds"] = load->opened_in_seconds();
  world.tell(results.last.name, results.last.samples.back(), results.last.unit);
  world.tell(results.memory.name, results.memory.samples.back(), results.memory.unit);
  load.reset();
  return server.process.stop();
}

}  // namespace

Cases bench_streams(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto streams = world.options().connections;
  Results results{
      .last = {.name = fmt::format("event to the last of {} streams, p99", streams),
               .unit = "ms",
               .samples = {}},
      .each = {.name = "event to each of them, p99", .unit = "ms", .samples = {}},
      .memory = {.name = "memory of the server with them", .unit = "MB", .samples = {}},
      .per_stream = {.name = "memory of one of them", .unit = "kB", .samples = {}},
      .asked = {.name = "transactions while all listen", .unit = "per second", .samples = {}}};
  results.last.extra["streams"] = streams;
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    MR_TRY_VOID(measure(world, store, results));
  }
  return std::vector<Measured>{std::move(results.last), std::move(results.each),
                               std::move(results.memory), std::move(results.per_stream),
                               std::move(results.asked)};
}

}  // namespace millrace::app
