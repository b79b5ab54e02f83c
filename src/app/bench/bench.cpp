#include "app/bench/bench.h"

#include "app/bench/rows.h"
#include "app/bench/tables.h"
#include "app/exit_code.h"
#include "app/ready_file.h"
#include "app/signals.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <thread>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

struct Entry {
  BenchRow row;
  Cases (*run)(World&);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {{"enqueue", "Jobs enqueued per second: singly, in arrays, with COPY"}, bench_enqueue},
      {{"coalesced", "Single calls a second that the C++ client joins into few commits"},
       bench_coalesced},
      {{"drain", "Jobs run per second, from a backlog, by 1, 2 and more processes"}, bench_drain},
      {{"sustained", "Jobs per second while producers and workers run together"}, bench_sustained},
      {{"held", "The same with a snapshot held by another session, and without", false},
       bench_held},
      {{"latency", "Time from the commit of an enqueue to the start of the handler"},
       bench_latency},
      {{"depth", "Jobs run per second in front of small and large backlogs"}, bench_depth},
      {{"limits", "Jobs run per second with and without a provider's limit"}, bench_limits},
      {{"keys", "Jobs run per second with and without keys of concurrency"}, bench_keys},
      {{"retries", "Jobs run per second when a fifth of them fails once"}, bench_retries},
      {{"handlers", "Handlers of 1 ms, 50 ms and 5 s: how busy the slots are kept"},
       bench_handlers},
      {{"idle", "What a worker process takes that has nothing to do"}, bench_idle},
      {{"lists", "Milliseconds for what people ask, with many finished jobs", false}, bench_lists},
      {{"http", "Requests a second: status of a job, durable enqueue, over HTTP"}, bench_http},
      {{"streams", "Live streams: memory of many, and how soon all hear of an event", false},
       bench_streams},
      {{"uploads", "A thousand uploads at once, and one of 2 GB: memory, speed, none lost", false},
       bench_uploads},
      {{"soak", "A steady rate for a long time: does anything grow?", false}, bench_soak}};
  return all;
}

Result<std::vector<Measured>> run_row(World& world, const std::string& name) {
  const auto found =
      std::ranges::find_if(entries(), [&](const Entry& entry) { return entry.row.name == name; });
  if (found == entries().end()) {
    return fail(ErrorKind::invalid_argument, fmt::format("there is no bench '{}'", name));
  }
  return found->run(world);
}

// A measurement may take half an hour, and somebody who ends it means it: the cluster is stopped in
// order, and the programs that were started die with this one.
class Interruption {
 public:
  Interruption(const SignalWaiter& signals, World& world)
      : thread_([&signals, &world](const std::stop_token& done) {
          while (!done.stop_requested()) {
            const auto signal = signals.wait(100ms);
            if (!signal) continue;
            world.close();
            std::_Exit(128 + *signal);  // Whatever the bench is about is of no use any more.
          }
        }) {}

 private:
  std::jthread thread_;  // Goes before the world does: while it closes that, nobody else may.
};

}  // namespace

const std::vector<BenchRow>& bench_rows() {
  static const std::vector<BenchRow> rows = [] {
    std::vector<BenchRow> list;
    for (const auto& entry : entries()) list.push_back(entry.row);
    return list;
  }();
  return rows;
}

Result<int> run_bench(Context& context, const BenchOptions& options) {
  const SignalWaiter signals;  // Before anything that starts threads.
  World world(context, options);
  MR_TRY_VOID(world.open());
  const Interruption interruption(signals, world);
  MR_TRY(const auto conditions, world.describe());
  context.note(line_of(conditions));
  json::Array all;
  for (const auto& what : options.what) {
    MR_TRY_VOID(world.fresh());
    MR_TRY(const auto results, run_row(world, what));
    if (!context.json()) print_results(context, what, results);
    json::Array list;
    for (const auto& result : results) list.emplace_back(to_object(result));
    all.emplace_back(
        json::Object{{"bench", what}, {"conditions", conditions}, {"results", std::move(list)}});
  }
  if (context.json()) context.print_json(all.size() == 1 ? all.front() : json::Value(all));
  return kExitOk;
}

Result<int> serve_bench(Context& context, const std::filesystem::path& folder) {
  const SignalWaiter signals;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  PrivateDatabase::Options open{.data_dir = std::filesystem::absolute(cluster_folder(folder)),
                                .fresh = true,
                                .local_settings = cluster_settings()};
  ReadyFile serving(serving_file(std::filesystem::absolute(folder)));
  MR_TRY_VOID(serving.remove_stale());
  MR_TRY(auto database, PrivateDatabase::open(context, open));
  MR_TRY_VOID(serving.write(
      {{"database_url", database.database.url},
       {"socket_dir", database.cluster.socket_directory().string()},
       {"postgres", database.cluster.version()},
       {"server_pid", static_cast<std::int64_t>(database.cluster.postmaster_pid())}}));
  context.note(fmt::format("serving {}", database.database.url));
  while (!signals.wait(1s)) continue;
  MR_TRY_VOID(database.cluster.stop());
  return kExitOk;
}

Result<int> run_loop(Context& context, const LoopOptions& options) {
  BenchOptions none;
  World world(context, none);  // Only its clock is used: the database is another queue's.
  std::vector<ClientWork> works;
  for (int i = 0; i < options.clients; ++i) {
    MR_TRY(auto plain, store::PlainClient::connect(options.url, options.statement));
    auto client = std::make_shared<store::PlainClient>(std::move(plain));  // Kept by its work.
    works.emplace_back([client, &options](const ClientRun& run) -> Result<std::int64_t> {
      std::int64_t done = 0;
      for (; !run.stop; ++done) MR_TRY_VOID(client->call(options.params));
      return done;
    });
  }
  MR_TRY(const auto load, run_clients(world, 0, options.seconds, works));
  context.print_json(json::Object{{"calls", load.jobs},
                                  {"seconds", load.seconds},
                                  {"rate", load.rate()},
                                  {"clients", options.clients}});
  return kExitOk;
}

}  // namespace millrace::app
