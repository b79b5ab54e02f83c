// Uploads: what a thousand at once, and one of two gigabytes, take of the server's memory, how fast
// they are, and whether all that were accepted are there.
#include "app/bench/rows.h"
#include "app/bench/uploads.h"
#include "identity/token_maker.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::app {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

struct Server {
  WorkerGroup process;
  UploadLoadOptions load;
};

// As it ships, but for the rate of a tenant, and without a line in the log for each request.
Result<Server> start_server(World& world, const std::filesystem::path& blobs) {
  auto& context = world.context();
  const auto secret = fmt::format("{}{}", context.random.uuid(), context.random.uuid());
  const auto settings = fmt::format(
      "[log]\nlevel = \"warn\"\n[server]\nlisten = [\"127.0.0.1:0\"]\nrequests_per_minute = 0\n"
      "[auth]\njwt_secret = \"{}\"\n[storage]\nfolder = {}\n",
      secret, json_quote(blobs.string()));
  UploadLoadOptions load;
  MR_TRY(auto process, WorkerGroup::start_server(world, settings, load.url));
  MR_TRY(const auto maker, identity::TokenMaker::make({.secret = Secret<std::string>(secret)},
                                                      context.clock, context.random));
  MR_TRY(const auto made, maker.make_token({.role = identity::Role::authenticated,
                                            .tenant = TenantId{context.random.uuid()},
                                            .user = identity::UserId{context.random.uuid()},
                                            .ttl = std::chrono::hours(24)}));
  load.token = made.token.reveal();
  return Server{.process = std::move(process), .load = std::move(load)};
}

double megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMegabyte);
}

struct Results {
  Measured rate;
  Measured memory;
  Measured above_idle;
  Measured lost;
};

Results results_of(int uploads, std::int64_t size_bytes) {
  const auto what = fmt::format("{} of {:.0f} MB", uploads, megabytes(size_bytes));
  return {.rate = {.name = what + " at once", .unit = "MB/s", .samples = {}},
          .memory = {.name = what + ": most memory of the server", .unit = "MB", .samples = {}},
          .above_idle = {.name = what + ": above an idle one", .unit = "MB", .samples = {}},
          .lost = {.name = what + ": refused or lost", .unit = "uploads", .samples = {}}};
}

// A server of its own for each: what another load left in its memory does not count.
Result<void> measure(World& world, int uploads, std::int64_t size_bytes, int repeat,
                     Results& results) {
  const auto blobs = world.folder() / "blobs";
  MR_TRY(auto server, start_server(world, blobs));
  server.load.uploads = uploads;
  server.load.size_bytes = size_bytes;
  server.load.name = fmt::format("load-{}-{}", uploads, repeat);
  const auto idle = server.process.resident();
  auto most = idle;
  const auto look = [&] { most = std::max(most, server.process.resident()); };
  MR_TRY(auto outcome, run_upload_load(server.load, world.context().clock, look));
  look();
  MR_TRY_VOID(read_back(server.load, outcome));
  results.rate.samples.push_back(outcome.bytes_per_second(size_bytes) /
                                 static_cast<double>(kMegabyte));
  results.rate.times.insert(results.rate.times.end(), outcome.times.begin(), outcome.times.end());
  results.rate.extra["accepted"] = outcome.accepted;
  results.rate.extra["seconds"] = outcome.seconds;
  results.memory.samples.push_back(megabytes(most));
  results.above_idle.samples.push_back(megabytes(most - idle));
  results.lost.samples.push_back(static_cast<double>(outcome.refused + outcome.lost));
  if (!outcome.first_refusal.empty()) {
    results.lost.extra["first_refusal"] = outcome.first_refusal;
    world.context().note(outcome.first_refusal);
  }
  for (const auto* measured : {&results.rate, &results.memory, &results.above_idle}) {
    world.tell(measured->name, measured->samples.back(), measured->unit);
  }
  const auto stopped = server.process.stop();
  std::error_code ignored;
  std::filesystem::remove_all(blobs, ignored);
  return stopped;
}

}  // namespace

Cases bench_uploads(World& world) {
  const auto& options = world.options();
  std::vector<std::pair<int, std::int64_t>> loads{
      {options.connections, options.upload_megabytes * kMegabyte}};
  if (options.large_megabytes > 0) loads.emplace_back(1, options.large_megabytes * kMegabyte);
  std::vector<Measured> all;
  for (const auto& [uploads, size_bytes] : loads) {
    auto results = results_of(uploads, size_bytes);
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      MR_TRY_VOID(measure(world, uploads, size_bytes, repeat, results));
    }
    for (auto* measured : {&results.rate, &results.memory, &results.above_idle, &results.lost}) {
      all.push_back(std::move(*measured));
    }
  }
  return all;
}

}  // namespace millrace::app
