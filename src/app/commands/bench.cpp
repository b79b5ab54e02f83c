#include "app/bench/bench.h"

#include "app/commands/commands.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

namespace millrace::app {
namespace {

struct Options {
  std::int64_t repeats = 3;
  std::optional<std::int64_t> jobs;
  std::int64_t payload_bytes = 64;
  std::int64_t clients = 4;
  std::int64_t batch = 1000;
  std::int64_t slots = 64;
  std::int64_t prefetch = 2'000;
  std::vector<std::string> depths;
  std::string folder = "build/bench";
  bool force = false;
};

Result<int> in_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return static_cast<int>(value);
  return fail(ErrorKind::invalid_argument,
              fmt::format("{}: {} is not between {} and {}", name, value, low, high));
}

Result<int> run(Context& context, std::vector<std::string> what, const Options& options) {
  BenchOptions bench;
  bench.what = std::move(what);
  MR_TRY(bench.repeats, in_range("--repeats", options.repeats, 1, 100));
  MR_TRY(bench.payload_bytes, in_range("--payload-bytes", options.payload_bytes, 30, 200'000));
  MR_TRY(bench.clients, in_range("--clients", options.clients, 1, 64));
  MR_TRY(bench.batch, in_range("--batch", options.batch, 1, 10'000));
  MR_TRY(bench.slots, in_range("--slots", options.slots, 1, 4096));
  MR_TRY(bench.prefetch, in_range("--prefetch", options.prefetch, 0, 10'000));
  if (options.jobs) {
    MR_TRY(bench.jobs, in_range("--jobs", *options.jobs, 1, 100'000'000));
  }
  if (!options.depths.empty()) {
    bench.depths.clear();
    for (const auto& text : options.depths) {
      std::int64_t depth = -1;
      std::from_chars(text.data(), text.data() + text.size(), depth);
      MR_TRY(const auto checked, in_range("--depth", depth, 0, 100'000'000));
      bench.depths.push_back(checked);
    }
  }
  bench.folder = options.folder;
  bench.force = options.force;
  return run_bench(context, bench);
}

}  // namespace

void add_bench_commands(Command& root) {
  auto& bench = root.add("bench", "Measure this machine").group("Help");
  bench.action([](Context& context) {
    return run(context, {"enqueue", "drain", "latency", "depth"}, Options());
  });
  const std::pair<const char*, const char*> all[] = {
      {"enqueue", "Jobs enqueued per second: singly, in arrays, with COPY"},
      {"drain", "Jobs run per second, from a backlog"},
      {"latency", "Time from enqueue to the start of the handler"},
      {"depth", "Jobs run per second in front of small and large backlogs"}};
  for (const auto& [name, about] : all) {
    auto options = std::make_shared<Options>();
    auto& command = bench.add(name, about);
    const std::string what = name;
    command.option("--repeats", "N", options->repeats, "Repeats of each case (default 3)");
    command.option("--jobs", "N", options->jobs, "Jobs per repeat");
    command.option("--payload-bytes", "N", options->payload_bytes, "Size (default 64)");
    if (what == "enqueue") {
      command.option("--clients", "N", options->clients, "Connections at once (default 4)");
      command.option("--batch", "N", options->batch, "Jobs per call (default 1000)");
    } else {
      command.option("--slots", "N", options->slots, "Of the worker (default 64)");
      command.option("--prefetch", "N", options->prefetch, "Of the worker (default 2000)");
    }
    if (what == "depth") {
      command.option("--depth", "N", options->depths,
                     "Backlog; repeatable (default 1000 and 100000)");
    }
    command.option("--folder", "DIR", options->folder, "Throw-away cluster (default build/bench)")
        .files();
    command.flag("--force", options->force, "Also in a --database-url that holds other jobs");
    command.action([options, what](Context& context) { return run(context, {what}, *options); });
  }
}

}  // namespace millrace::app
