// What a worker process takes that has nothing to do.
#include "app/bench/rows.h"

#include <boost/json/object.hpp>

#include <algorithm>

namespace millrace::app {
namespace {

using Seconds = std::chrono::duration<double>;

Clock::Duration seconds(double value) {
  return std::chrono::duration_cast<Clock::Duration>(Seconds(value));
}

}  // namespace

Cases bench_idle(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  MR_TRY_VOID(store.resume_queue(kBenchQueue));
  const double length = world.options().seconds > 0 ? world.options().seconds : 20;
  Measured cpu{.name = "CPU of one worker process", .unit = "% of a core", .samples = {}};
  Measured asked{.name = "transactions it asks for", .unit = "per second", .samples = {}};
  Measured memory{.name = "its resident memory", .unit = "MB", .samples = {}};
  Measured server{.name = "CPU of the server meanwhile", .unit = "% of a core", .samples = {}};
  auto& clock = world.context().clock;
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    MR_TRY(auto workers, WorkerGroup::start(world, {.processes = 1,
                                                    .slots = world.options().slots,
                                                    .prefetch = world.options().prefetch}));
    // Beyond its start-up, whose transactions an idle backend reports up to ten seconds later.
    world.pause_until(clock.now() + seconds(std::min(12.0, length)));
    const auto own = [&] { return ProcessTable::read().cpu_seconds(workers.pid()); };
    MR_TRY(const auto before, world.read(store));
    const double cpu_before = own();
    world.pause_until(clock.now() + seconds(length));
    MR_TRY(const auto after, world.read(store));
    const double took = Seconds(after.at - before.at).count();
    cpu.samples.push_back((own() - cpu_before) / took * 100);
    server.samples.push_back((after.server_cpu - before.server_cpu) / took * 100);
    // One of them is the reading itself.
    const auto commits = after.server.commits - before.server.commits - 1;
    asked.samples.push_back(static_cast<double>(std::max<std::int64_t>(0, commits)) / took);
    memory.samples.push_back(static_cast<double>(workers.resident()) / 1e6);
    MR_TRY_VOID(workers.stop());
    world.tell(cpu.name, cpu.samples.back(), cpu.unit);
  }
  return std::vector<Measured>{std::move(cpu), std::move(asked), std::move(memory),
                               std::move(server)};
}

}  // namespace millrace::app
