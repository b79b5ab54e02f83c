// millrace_sim: lives through many worlds, each from its seed, and stops at the first violation.
//
//   millrace_sim --seeds 1000000 --jobs 2     one million seeds on two threads
//   millrace_sim --seconds 60                 as many as fit into a minute
//   millrace_sim --first 4711 --seeds 1 --trace   everything that happens in one world
#include "sim/world.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::sim {
namespace {

struct Choices {
  std::uint64_t first = 1;
  std::uint64_t seeds = 10'000;
  double seconds = 0;  // 0: no limit.
  unsigned jobs = 1;
  bool trace = false;
  bool paths = false;
  bool any_coverage = false;
};

struct Totals {
  std::mutex mutex;  // Guards the rest.
  Coverage coverage;
  std::uint64_t worlds = 0;
  std::uint64_t steps = 0;
  Time lasted{0};
  std::vector<std::uint64_t> failed;
};

void print_trace(std::uint64_t seed) {
  Coverage coverage;
  World world(seed, coverage, true);
  world.run();
  for (const auto& note : world.checks().notes()) fmt::print("{}\n", world.checks().print(note));
}

std::string explain(std::uint64_t seed) {
  Coverage coverage;
  World world(seed, coverage, true);
  world.run();
  return world.checks().report();
}

void live(const Choices& choices, std::atomic<std::uint64_t>& next, std::atomic<bool>& over,
          Totals& totals) {
  Coverage coverage;
  std::uint64_t worlds = 0;
  std::uint64_t steps = 0;
  Time lasted{0};
  const auto hand_in = [&] {
    const std::lock_guard lock(totals.mutex);
    totals.coverage.add(std::exchange(coverage, {}));
    totals.worlds += std::exchange(worlds, 0);
    totals.steps += std::exchange(steps, 0);
    totals.lasted += std::exchange(lasted, Time(0));
  };
  while (!over) {
    const auto seed = next++;
    if (seed >= choices.first + choices.seeds) break;
    World world(seed, coverage);
    const auto result = world.run();
    ++worlds;
    steps += result.steps;
    lasted += result.lasted;
    if (result.violation) {
      over = true;
      const std::lock_guard lock(totals.mutex);
      totals.failed.push_back(seed);
    }
    if (worlds >= 256) hand_in();
  }
  hand_in();
}

int run(const Choices& choices) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::atomic<std::uint64_t> next = choices.first;
  std::atomic<bool> over = false;
  std::atomic<unsigned> working = choices.jobs;
  Totals totals;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < choices.jobs; ++i) {
      threads.emplace_back([&] {
        live(choices, next, over, totals);
        --working;
        working.notify_all();
      });
    }
    // Wakes up when a thread ends, or to show how far it is.
    std::mutex mutex;
    std::condition_variable tick;
    std::unique_lock lock(mutex);
    double shown = 0;
    while (working > 0) {
      tick.wait_for(lock, std::chrono::milliseconds(50), [&] { return working == 0; });
      if (choices.seconds > 0 && passed() >= choices.seconds) over = true;
      if (passed() - shown < 5) continue;
      shown = passed();
      const std::lock_guard guard(totals.mutex);
      fmt::print("{:>9} seeds, {:.0f} per second\n", totals.worlds,
                 static_cast<double>(totals.worlds) / passed());
      std::fflush(stdout);
    }
  }
  const auto worlds = static_cast<double>(std::max<std::uint64_t>(1, totals.worlds));
  fmt::print(
      "{} seeds from {} in {:.1f} s: {:.0f} per second; a world has {:.0f} steps in {:.1f} s\n",
      totals.worlds, choices.first, passed(), worlds / passed(),
      static_cast<double>(totals.steps) / worlds,
      std::chrono::duration<double>(totals.lasted).count() / worlds);
  if (choices.paths) {
    for (std::size_t i = 0; i < kPathNames.size(); ++i) {
      fmt::print("{:>9} {}\n", totals.coverage.count(static_cast<Path>(i)), kPathNames[i]);
    }
  }
  if (!totals.failed.empty()) {
    const auto seed = *std::ranges::min_element(totals.failed);
    fmt::print("{}replay: millrace_sim --first {} --seeds 1 --trace\n", explain(seed), seed);
    return 1;
  }
  if (!choices.any_coverage) {
    for (const auto& hole : totals.coverage.holes()) fmt::print("never reached: {}\n", hole);
    if (!totals.coverage.holes().empty()) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace millrace::sim

int main(int argc, char** argv) {
  millrace::sim::Choices choices;
  CLI::App app("Simulated worlds of workers, keepers and faults");
  app.add_option("--first", choices.first, "first seed");
  app.add_option("--seeds", choices.seeds, "how many seeds");
  app.add_option("--seconds", choices.seconds, "stop after this time");
  app.add_option("--jobs", choices.jobs, "threads");
  app.add_flag("--trace", choices.trace, "show everything that happens in the first seed");
  app.add_flag("--paths", choices.paths, "show how often each path was reached");
  app.add_flag("--any-coverage", choices.any_coverage, "paths never reached are no failure");
  CLI11_PARSE(app, argc, argv);
  if (choices.trace) {
    millrace::sim::print_trace(choices.first);
    choices.any_coverage = true;
  }
  return millrace::sim::run(choices);
}
