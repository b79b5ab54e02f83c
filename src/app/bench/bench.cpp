#include "app/bench/bench.h"

#include "app/bench/runs.h"
#include "app/exit_code.h"
#include "app/private_database.h"
#include "app/schema.h"
#include "app/signals.h"
#include "base/version.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>
#include <thread>
#include <unistd.h>

namespace millrace::app {
namespace {

class Bench {
 public:
  Bench(Context& context, const BenchOptions& options) : context_(context), options_(options) {}

  Result<int> run() {
    MR_TRY_VOID(open_database());
    MR_TRY(const auto conditions, describe());
    context_.note(line_of(conditions));
    BenchRun bench(context_, database_, options_);
    json::Array all;
    for (const auto& what : options_.what) {
      MR_TRY(const auto results, what == "enqueue"   ? bench.enqueue()
                                 : what == "drain"   ? bench.drain()
                                 : what == "latency" ? bench.latency()
                                                     : bench.depth());
      if (!context_.json()) print(what, results);
      json::Array list;
      for (const auto& result : results) list.emplace_back(to_object(result));
      all.emplace_back(
          json::Object{{"bench", what}, {"conditions", conditions}, {"results", std::move(list)}});
    }
    if (context_.json()) context_.print_json(all.size() == 1 ? all.front() : json::Value(all));
    if (private_) (void)private_->cluster.stop();
    return kExitOk;
  }

 private:
  Result<void> open_database() {
    // The environment's database is for work; only one named on the command line is measured.
    if (context_.settings.get("database.url").origin == "--database-url") {
      MR_TRY(database_, find_database(context_.settings));
      MR_TRY(auto connection, connect_plain(database_));
      MR_TRY_VOID(migrate_up(context_, connection, {}));
      MR_TRY(auto store, context_.connect_to(database_));
      MR_TRY(const auto counts, store.counts());
      if (counts.enqueued > 0 && !options_.force) {
        return fail(Error{.kind = ErrorKind::conflict,
                          .message = fmt::format("this database holds {} jobs of others",
                                                 group_digits(counts.enqueued)),
                          .hint = "take an empty one, or add --force"});
      }
      return {};
    }
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    PrivateDatabase::Options open{.data_dir = options_.folder / ".millrace", .fresh = true};
    MR_TRY(auto opened, PrivateDatabase::open(context_, open));
    private_ = std::make_unique<PrivateDatabase>(std::move(opened));
    database_ = private_->database;
    return {};
  }

  Result<json::Object> describe() {
    MR_TRY(auto store, context_.connect_to(database_));
    MR_TRY(const auto server, store.server_facts());
#ifdef NDEBUG
    const bool optimised = true;
#else
    const bool optimised = false;
#endif
    return json::Object{{"cores", static_cast<std::int64_t>(std::thread::hardware_concurrency())},
                        {"postgres", text_member(server, "version")},
                        {"fsync", text_member(server, "fsync")},
                        {"synchronous_commit", text_member(server, "synchronous_commit")},
                        {"shared_buffers", text_member(server, "shared_buffers")},
                        {"payload_bytes", options_.payload_bytes},
                        {"repeats", options_.repeats},
                        {"version", std::string(kVersion)},
                        {"optimised", optimised},
                        {"at", format_timestamp(context_.clock.wall())}};
  }

  static std::string line_of(const json::Object& conditions) {
    return fmt::format(
        "{} cores, PostgreSQL {}, fsync {}, synchronous_commit {}, shared_buffers {}, payload {} "
        "bytes, {} repeats{}",
        int_member(conditions, "cores"), text_member(conditions, "postgres"),
        text_member(conditions, "fsync"), text_member(conditions, "synchronous_commit"),
        text_member(conditions, "shared_buffers"), int_member(conditions, "payload_bytes"),
        int_member(conditions, "repeats"),
        bool_member(conditions, "optimised") ? "" : ", NOT an optimised build");
  }

  void print(const std::string& what, const std::vector<Measured>& results) {
    Table table({left(what), right("MEDIAN"), left("UNIT"), left("SPREAD")});
    for (const auto& result : results) {
      const auto number = [&](double value) {
        return result.unit == "ms" ? fmt::format("{:.2f}", value)
                                   : group_digits(static_cast<long long>(value));
      };
      table.add({Cell(result.name), Cell(number(result.median())), Cell(result.unit),
                 Cell(fmt::format("{} .. {}", number(result.lowest()), number(result.highest())))});
    }
    context_.print(table.render(context_.terminal));
  }

  Context& context_;
  const BenchOptions& options_;
  SignalWaiter signals_;  // Before anything that starts threads.
  Database database_;
  std::unique_ptr<PrivateDatabase> private_;
};

}  // namespace

Result<int> run_bench(Context& context, const BenchOptions& options) {
  return Bench(context, options).run();
}

}  // namespace millrace::app
