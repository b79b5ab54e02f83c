// Single calls of many threads, joined into few commits by the C++ client; each call returns only
// when its job is durable.
#include "app/bench/rows.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::app {
namespace {

// One acknowledged call, made by many threads at once.
using EnqueueOne = std::function<Result<void>(const std::string& payload)>;

// The client that joins calls, connected to the world's database. The library has none yet: its
// producer makes a round trip and a commit per call. This is the one place to connect it.
std::optional<EnqueueOne> joining_client(World&) { return std::nullopt; }

}  // namespace

Cases bench_coalesced(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto threads = world.options().clients.empty() ? 64 : world.options().clients.front();
  Measured measured{.name = fmt::format("joined calls, {} threads", threads),
                    .samples = {},
                    .extra = {{"clients", threads}}};
  const auto client = joining_client(world);
  if (!client) {
    measured.extra["reason"] = "the C++ client does not join single calls yet";
    return std::vector<Measured>{std::move(measured)};
  }
  const ClientWork work = [&](const ClientRun& run) -> Result<std::int64_t> {
    std::int64_t done = 0;
    for (; done < run.jobs && !run.stop; ++done) {
      MR_TRY_VOID((*client)(world.payload(done)));
    }
    return done;
  };
  const double seconds = world.options().seconds > 0 ? world.options().seconds : 3;
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    store::checkpoint(store.connection());
    MR_TRY(const auto before, world.read(store));
    MR_TRY(const auto load,
           run_clients(world, world.options().jobs.value_or(100'000'000), seconds,
                       std::vector<ClientWork>(static_cast<std::size_t>(threads), work)));
    MR_TRY(const auto end, world.read(store));
    measured.cost += cost_between(before, end, end, load.jobs);
    measured.samples.push_back(load.rate());
    world.tell(measured.name, load.rate(), measured.unit);
  }
  return std::vector<Measured>{std::move(measured)};
}

}  // namespace millrace::app
