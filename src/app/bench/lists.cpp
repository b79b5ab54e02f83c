// What people ask (the job list, one job, the counts of queues) with many finished jobs behind
// them.
#include "app/bench/rows.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::app {
namespace {

constexpr int kAsked = 40;  // Times each question is asked, per repeat.

// Finished jobs are made by the engine itself: enqueued, run, settled. Step by step, so that the
// backlog stays small.
Result<void> make_finished(World& world, store::AdminStore& store, std::int64_t jobs) {
  MR_TRY_VOID(store.resume_queue(kBenchQueue));
  MR_TRY(auto workers, WorkerGroup::start(world, {.processes = 2,
                                                  .slots = world.options().slots,
                                                  .prefetch = world.options().prefetch}));
  constexpr std::int64_t kStep = 500'000;
  for (std::int64_t done = 0; done < jobs;) {
    const auto step = std::min(kStep, jobs - done);
    MR_TRY(const auto before, store.counts(kBenchQueue));
    MR_TRY_VOID(fill(world, step));
    MR_TRY_VOID(await_completed(world, store, before.completed, step, workers));
    done += step;
    world.tell("finished jobs", static_cast<double>(done), "");
  }
  return workers.stop();
}

Result<void> ask(World& world, Measured& measured,
                 const std::function<Result<void>(int number)>& question) {
  std::vector<double> times;
  for (int i = 0; i < kAsked; ++i) {
    const auto begin = world.context().clock.now();
    MR_TRY_VOID(question(i));
    times.push_back(world.since(begin) * 1000);
  }
  measured.samples.push_back(percentile(times, 0.5));
  measured.times.insert(measured.times.end(), times.begin(), times.end());
  return {};
}

struct Question {
  std::string name;
  std::function<Result<void>(int number)> ask;
};

std::vector<Question> questions(store::AdminStore& store, const std::vector<JobId>& ids) {
  const auto list = [&store](store::JobFilter filter) {
    return [&store, filter](int) -> Result<void> {
      MR_TRY_VOID(store.list_jobs(filter));
      return {};
    };
  };
  return {{"job list, newest 50", list({})},
          {"job list of a queue", list({.queue = kBenchQueue})},
          {"job list by status and type", list({.job_type = kNoopType, .status = "completed"})},
          {"job detail",
           [&store, &ids](int number) -> Result<void> {
             MR_TRY_VOID(store.get_job(ids[static_cast<std::size_t>(number) % ids.size()]));
             return {};
           }},
          {"queue counts", [&store](int) -> Result<void> {
             MR_TRY_VOID(store.counts());
             return {};
           }}};
}

// Jobs from all ages: some are made before each step of the others.
Result<std::vector<JobId>> make_known(World& world, store::AdminStore& store) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 20; ++i) payloads.push_back(world.payload(i));
  return store.enqueue_array(kNoopType, payloads, {{"queue", kBenchQueue}});
}

}  // namespace

Cases bench_lists(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  const auto jobs = world.options().jobs.value_or(1'000'000);
  std::vector<JobId> ids;
  for (const int part : {0, 1}) {
    MR_TRY(const auto known, make_known(world, store));
    ids.insert(ids.end(), known.begin(), known.end());
    MR_TRY_VOID(make_finished(world, store, part == 0 ? jobs / 2 : jobs - jobs / 2));
  }
  const auto all = questions(store, ids);
  std::vector<Measured> results;
  for (const auto& question : all) {
    results.push_back(
        {.name = question.name, .unit = "ms", .samples = {}, .extra = {{"finished_jobs", jobs}}});
  }
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      MR_TRY_VOID(ask(world, results[i], all[i].ask));
    }
  }
  return results;
}

}  // namespace millrace::app
