// What clients of the HTTP server get: the status of a job, and a durable enqueue, over many
// keep-alive connections, while the load generator and PostgreSQL share the machine with it.
#include "app/bench/http.h"
#include "app/bench/rows.h"
#include "base/file.h"
#include "identity/token_maker.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::app {
namespace {

constexpr std::int64_t kJobs = 10'000;  // Whose status is asked for; half of them have ended.
constexpr std::int64_t kPerCall = 100;

Result<void> add_jobs(const World& world, store::AdminStore& store, std::int64_t jobs,
                      std::vector<std::string>& ids) {
  for (std::int64_t done = 0; done < jobs;) {
    std::vector<std::string> payloads;
    const auto count = std::min(kPerCall, jobs - done);
    for (std::int64_t i = 0; i < count; ++i) payloads.push_back(world.payload(done + i));
    MR_TRY(const auto made, store.enqueue_array(kNoopType, payloads, {{"queue", kBenchQueue}}));
    for (const auto& id : made) ids.push_back(id.to_string());
    done += count;
  }
  return {};
}

// Half of them completed by a worker as they came, half waiting; in no order.
Result<std::vector<std::string>> make_jobs(World& world, store::AdminStore& store,
                                           std::int64_t jobs) {
  std::vector<std::string> ids;
  MR_TRY(const auto before, store.counts(kBenchQueue));
  {
    MR_TRY(auto workers, WorkerGroup::start(world, {.processes = 1}));
    MR_TRY_VOID(store.resume_queue(kBenchQueue));
    MR_TRY_VOID(add_jobs(world, store, jobs / 2, ids));
    MR_TRY_VOID(await_completed(world, store, before.completed, jobs / 2, workers));
    MR_TRY_VOID(workers.stop());
  }
  MR_TRY_VOID(store.pause_queue(kBenchQueue, "bench"));
  MR_TRY_VOID(add_jobs(world, store, jobs - jobs / 2, ids));
  auto& random = world.context().random;
  for (auto left = ids.size(); left > 1; --left) std::swap(ids[left - 1], ids[random.below(left)]);
  std::string text;
  for (const auto& id : ids) text += id + "\n";
  MR_TRY_VOID(write_file_atomically(world.folder() / "http_ids.txt", text));
  return ids;
}

struct Server {
  WorkerGroup process;
  std::string url;
  std::string token;
};

// As it ships, but for the rate of a tenant, and without a line in the log for each request.
Result<Server> start_server(World& world) {
  auto& context = world.context();
  const auto secret = fmt::format("{}{}", context.random.uuid(), context.random.uuid());
  const auto settings = fmt::format(
      "[log]\nlevel = \"warn\"\n[server]\nlisten = [\"127.0.0.1:0\"]\nrequests_per_minute = 0\n"
      "[auth]\njwt_secret = \"{}\"\n",
      secret);
  std::string url;
  MR_TRY(auto process, WorkerGroup::start_server(world, settings, url));
  MR_TRY(const auto maker, identity::TokenMaker::make({.secret = Secret<std::string>(secret)},
                                                      context.clock, context.random));
  MR_TRY(const auto made,
         maker.make_token({.role = identity::Role::service_role, .ttl = std::chrono::hours(24)}));
  return Server{.process = std::move(process), .url = url, .token = made.token.reveal()};
}

Result<void> measure(World& world, store::AdminStore& store, const HttpLoadOptions& load,
                     Measured& measured) {
  store::checkpoint(store.connection());
  MR_TRY(const auto before, world.read(store));
  MR_TRY(const auto answers, run_http_load(load, world.context().clock));
  MR_TRY(const auto end, world.read(store));
  // The warm-up is in the cost of both sides, so it counts here, too.
  const auto share = (answers.seconds + load.warm_up_seconds) / answers.seconds;
  measured.cost += cost_between(
      before, end, end, static_cast<std::int64_t>(static_cast<double>(answers.answers) * share));
  measured.samples.push_back(answers.rate());
  measured.times.insert(measured.times.end(), answers.times.begin(), answers.times.end());
  measured.extra["generator_cores"] = answers.cpu_seconds / answers.seconds;
  world.tell(measured.name, answers.rate(), measured.unit);
  return {};
}

}  // namespace

Cases bench_http(World& world) {
  MR_TRY(auto store, world.connect());
  MR_TRY_VOID(world.set_up(store));
  HttpLoadOptions load{.url = {}};
  load.connections = world.options().connections;
  load.seconds = world.options().seconds > 0 ? world.options().seconds : 3;
  load.payload_bytes = world.options().payload_bytes;
  load.job_type = kNoopType;
  load.queue = kBenchQueue;
  MR_TRY(load.ids, make_jobs(world, store, world.options().jobs.value_or(kJobs)));
  MR_TRY(auto server, start_server(world));
  load.url = server.url;
  load.token = server.token;
  const std::vector<std::pair<HttpRequests, std::string>> cases{
      {HttpRequests::status, "GET the status of a job"}, {HttpRequests::enqueue, "POST a job"}};
  std::vector<Measured> results;
  for (const auto& [requests, name] : cases) {
    results.push_back({.name = name,
                       .unit = "requests/s",
                       .samples = {},
                       .extra = {{"connections", load.connections}, {"jobs", load.ids.size()}}});
  }
  for (int repeat = 0; repeat < world.options().repeats; ++repeat) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      load.requests = cases[i].first;
      MR_TRY_VOID(measure(world, store, load, results[i]));
    }
  }
  MR_TRY_VOID(server.process.stop());
  return results;
}

}  // namespace millrace::app
