// Benches of producers.
#include "app/bench/rows.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::app {
namespace {

struct Case {
  std::string name;
  int clients = 1;
  std::int64_t jobs = 0;
  double seconds = 0;  // 0: until the jobs are done.
  std::function<Result<std::vector<ClientWork>>(int clients)> connect;
};

Result<void> measure(World& world, const Case& one, Measured& measured) {
  MR_TRY(auto store, world.connect());
  MR_TRY(const auto quiet, store::other_sessions(store.connection()));
  MR_TRY(auto clients, one.connect(one.clients));
  store::checkpoint(store.connection());
  MR_TRY(const auto before, world.read(store));
  MR_TRY(const auto load, run_clients(world, one.jobs, one.seconds, clients));
  MR_TRY(const auto end, world.read(store));
  clients.clear();  // Their backends report what they counted when they end.
  MR_TRY(const auto after, world.read_after(store, quiet));
  measured.cost += cost_between(before, end, after, load.jobs);
  measured.samples.push_back(load.rate());
  world.tell(measured.name, load.rate(), measured.unit);
  return {};
}

std::vector<Case> cases_of(World& world) {
  const auto& options = world.options();
  const auto pick = [&](std::vector<std::int64_t> usual) {
    return options.clients.empty() ? usual : options.clients;
  };
  const auto many = options.jobs.value_or(100'000);
  // Singles run for a time: how many that is differs by orders of magnitude.
  const double seconds = options.seconds > 0 ? options.seconds : 3;
  const auto few = options.jobs ? std::max<std::int64_t>(8, many / 25) : 10'000'000;
  std::vector<Case> all;
  for (const auto clients : pick({1, 8})) {
    all.push_back({fmt::format("single, {} client{}", clients, clients == 1 ? "" : "s"),
                   static_cast<int>(clients), few, seconds,
                   [&world](int count) { return single_clients(world, count); }});
  }
  for (const auto clients : pick({1, 4})) {
    all.push_back(
        {fmt::format("array of {}, {} client{}", options.batch, clients, clients == 1 ? "" : "s"),
         static_cast<int>(clients), many, 0, [&world, batch = options.batch](int count) {
           return array_clients(world, count, batch);
         }});
  }
  const int copied = options.batch * 10;
  for (const auto clients : pick({1, 2, 4})) {
    all.push_back({fmt::format("COPY of {}, {} client{}", copied, clients, clients == 1 ? "" : "s"),
                   static_cast<int>(clients), many, 0,
                   [&world, copied](int count) { return copy_clients(world, count, copied); }});
  }
  return all;
}

}  // namespace

Cases bench_enqueue(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto all = cases_of(world);
  std::vector<Measured> results;
  for (const auto& one : all) {
    results.push_back({.name = one.name, .samples = {}, .extra = {{"clients", one.clients}}});
  }
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      MR_TRY_VOID(measure(world, all[i], results[i]));
    }
  }
  return results;
}

}  // namespace millrace::app
