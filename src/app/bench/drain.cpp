// Benches that drain a backlog: by processes, from depths, with limits, keys, failures, and with
// handlers that take their time.
#include "app/bench/rows.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 900s;

std::function<Result<void>(store::AdminStore&, std::int64_t)> plain_fill(World& world) {
  return [&world](store::AdminStore&, std::int64_t missing) { return fill(world, missing); };
}

WorkerSpec usual_workers(const World& world, int processes) {
  return {
      .processes = processes, .slots = world.options().slots, .prefetch = world.options().prefetch};
}

int chosen_processes(const World& world, int fallback) {
  const auto& given = world.options().processes;
  return given.empty() ? fallback : static_cast<int>(given.front());
}

// The plan of an overhead: two cases that differ in one thing.
struct Variant {
  std::string name;
  std::string type = kNoopType;
  std::function<store::IntakeRow(std::int64_t)> row;
};

// Both variants in turn, so that what changes over time hits both; the first is the plain one.
Cases compare(World& world, const std::vector<Variant>& variants, std::int64_t jobs) {
  std::vector<Measured> results;
  for (const auto& variant : variants) results.push_back({.name = variant.name, .samples = {}});
  MR_TRY(auto store, world.connect());
  const auto workers = usual_workers(world, chosen_processes(world, 2));
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const auto place = repeat % 2 == 0 ? i : variants.size() - 1 - i;
      const auto& variant = variants[place];
      DrainPlan plan{.workers = workers, .jobs = jobs};
      plan.fill = [&variant](store::AdminStore& own, std::int64_t missing) {
        return fill_rows(own, variant.type, missing, variant.row);
      };
      MR_TRY_VOID(drain_once(world, plan, results[place]));
    }
  }
  return results;
}

}  // namespace

Result<std::int64_t> await_completed(const World& world, store::AdminStore& store,
                                     std::int64_t before, std::int64_t jobs,
                                     const WorkerGroup& workers) {
  const auto& clock = world.context().clock;
  const auto begin = clock.now();
  for (;;) {
    MR_TRY(const auto counts, store.counts(kBenchQueue));
    const auto done = counts.completed - before;
    if (done >= jobs) return done;
    if (!workers.running() || clock.now() - begin > kPatience) {
      return fail(ErrorKind::unavailable,
                  fmt::format("{} of {} jobs were done, then no more", done, jobs));
    }
    // Asking costs the server; near the end it is asked more often.
    const double rate = static_cast<double>(done) / std::max(0.001, world.since(begin));
    const double left = rate > 0 ? static_cast<double>(jobs - done) / rate : 0.02;
    const auto wait = std::chrono::duration<double>(std::clamp(left / 3, 0.003, 0.1));
    world.pause_until(clock.now() + std::chrono::duration_cast<Clock::Duration>(wait));
  }
}

Result<void> drain_once(World& world, const DrainPlan& plan, Measured& measured) {
  MR_TRY(auto store, world.connect());
  MR_TRY(const auto quiet, store::other_sessions(store.connection()));
  MR_TRY_VOID(store.pause_queue(kBenchQueue, "bench"));
  MR_TRY(const auto there, store.counts(kBenchQueue));
  {
    MR_TRY(auto filler, world.connect());
    MR_TRY_VOID(plan.fill(filler, plan.jobs + plan.backlog - there.live()));
  }
  store::checkpoint(store.connection());
  MR_TRY(auto workers, WorkerGroup::start(world, plan.workers));
  // A process that has registered still has to look at the queue once before it waits for it.
  world.pause_until(world.context().clock.now() + 300ms + plan.workers.processes * 20ms);
  MR_TRY(const auto counts, store.counts(kBenchQueue));
  MR_TRY(const auto before, world.read(store));
  const auto begin = world.context().clock.now();
  MR_TRY_VOID(store.resume_queue(kBenchQueue));
  MR_TRY(const auto done, await_completed(world, store, counts.completed, plan.jobs, workers));
  const double took = world.since(begin);
  MR_TRY(const auto end, world.read(store));
  if (plan.backlog > 0) MR_TRY_VOID(store.pause_queue(kBenchQueue, "bench"));
  MR_TRY_VOID(workers.stop());
  MR_TRY(const auto after, world.read_after(store, quiet));
  MR_TRY(const auto finally, store.counts(kBenchQueue));
  auto cost = cost_between(before, end, after, done);
  // What the workers still did after the clock stopped is in the rows, but not in the jobs.
  const auto late = static_cast<double>(finally.completed - counts.completed);
  const double share = static_cast<double>(done) / std::max(1.0, late);
  cost.commits *= share;
  cost.rows_written *= share;
  cost.rows_dead *= share;
  measured.cost += cost;
  measured.samples.push_back(static_cast<double>(done) / took);
  world.tell(measured.name, measured.samples.back(), measured.unit);
  return {};
}

Cases bench_drain(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto jobs = world.options().jobs.value_or(200'000);
  auto counts = world.options().processes;
  if (counts.empty()) counts = {1, 2, 4};
  std::vector<Measured> results;
  for (const auto count : counts) {
    results.push_back(
        {.name = fmt::format("{} process{}", count, count == 1 ? "" : "es"),
         .samples = {},
         .extra = {{"processes", count},
                   {"jobs", jobs},
                   {"slots", world.options().slots},
                   {"prefetch", world.options().prefetch ? json::Value(*world.options().prefetch)
                                                         : json::Value("as shipped")}}});
  }
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const DrainPlan plan{.workers = usual_workers(world, static_cast<int>(counts[i])),
                           .jobs = jobs,
                           .fill = plain_fill(world)};
      MR_TRY_VOID(drain_once(world, plan, results[i]));
    }
  }
  return results;
}

Cases bench_depth(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto jobs = world.options().jobs.value_or(200'000);
  auto depths = world.options().depths;
  std::ranges::sort(depths);  // A backlog only grows; it is never drained for nothing.
  std::vector<Measured> results;
  for (const auto backlog : depths) {
    Measured measured{.name = fmt::format("backlog {}", group_digits(backlog)),
                      .samples = {},
                      .extra = {{"backlog", backlog}, {"jobs", jobs}}};
    const DrainPlan plan{.workers = usual_workers(world, chosen_processes(world, 2)),
                         .jobs = jobs,
                         .backlog = backlog,
                         .fill = plain_fill(world)};
    for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
      MR_TRY_VOID(drain_once(world, plan, measured));
    }
    results.push_back(std::move(measured));
  }
  return results;
}

Cases bench_limits(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  MR_TRY_VOID(store.set_limit("bench", "bench",
                              {{"requests_per_minute", 2'000'000'000},
                               {"requests_per_hour", 2'000'000'000},
                               {"concurrent_requests", 1'000'000},
                               {"queue_depth_limit", 2'000'000'000}}));
  MR_TRY_VOID(
      store.set_job_type(kLimitedType, {{"queue", kBenchQueue}, {"provider", "bench:bench"}}));
  const auto row = [&world](std::int64_t i) {
    return store::IntakeRow{.payload = world.payload(i), .concurrency_key = {}};
  };
  return compare(world, {{"no limit", kNoopType, row}, {"provider limit", kLimitedType, row}},
                 world.options().jobs.value_or(100'000));
}

Cases bench_keys(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  MR_TRY_VOID(store.set_queue(kBenchQueue, {{"key_concurrency_max", 100}}));
  const auto with = [&world](const char* prefix) {
    return [&world, prefix](std::int64_t i) {
      const std::string key = prefix == nullptr ? "" : fmt::format("{}{}", prefix, i % 1000);
      return store::IntakeRow{.payload = world.payload(i), .concurrency_key = key};
    };
  };
  return compare(world,
                 {{"no key", kNoopType, with(nullptr)}, {"1000 keys", kNoopType, with("key")}},
                 world.options().jobs.value_or(100'000));
}

Cases bench_retries(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  MR_TRY_VOID(store.set_queue(kBenchQueue, {{"backoff_base", "0 s"}, {"max_attempts", 5}}));
  const auto with = [](int percent) {
    return [percent](std::int64_t i) {
      const bool fails = i % 100 < percent;
      return store::IntakeRow{
          .payload = fails ? fmt::format(R"({{"ms":0,"n":{},"fail":"retry","fail_attempts":1}})", i)
                           : fmt::format(R"({{"ms":0,"n":{}}})", i),
          .concurrency_key = {}};
    };
  };
  return compare(world,
                 {{"none fails", kSleepType, with(0)}, {"20 % fail once", kSleepType, with(20)}},
                 world.options().jobs.value_or(50'000));
}

Cases bench_handlers(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const int processes = chosen_processes(world, 2);
  constexpr int kSlots = 100;
  const auto slots = static_cast<double>(processes * kSlots);
  const double seconds = world.options().seconds > 0 ? world.options().seconds : 4;
  std::vector<Measured> results;
  for (const int ms : {1, 50, 5000}) {
    const double possible = slots * 1000 / ms;
    // Whole rounds of all slots, at least two.
    const auto rounds = std::max<std::int64_t>(2, static_cast<std::int64_t>(seconds * 1000 / ms));
    const auto jobs = world.options().jobs.value_or(
        std::min<std::int64_t>(100'000, rounds * static_cast<std::int64_t>(slots)));
    Measured measured{.name = fmt::format("{} ms, {} slots", ms, slots),
                      .samples = {},
                      .extra = {{"handler_ms", ms}, {"slots", slots}, {"possible", possible}}};
    DrainPlan plan{
        .workers = {.processes = processes, .slots = kSlots, .prefetch = world.options().prefetch},
        .jobs = jobs};
    plan.fill = [ms](store::AdminStore& own, std::int64_t missing) {
      return fill_rows(own, kSleepType, missing, [ms](std::int64_t i) {
        return store::IntakeRow{.payload = fmt::format(R"({{"ms":{},"n":{}}})", ms, i),
                                .concurrency_key = {}};
      });
    };
    for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
      MR_TRY_VOID(drain_once(world, plan, measured));
    }
    measured.extra["share"] = measured.median() / possible;
    results.push_back(std::move(measured));
  }
  return results;
}

}  // namespace millrace::app
