#include "app/bench/world.h"

#include "app/schema.h"
#include "base/version.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <fstream>
#include <thread>
#include <unistd.h>

namespace millrace::app {

using Seconds = std::chrono::duration<double>;

std::filesystem::path serving_file(const std::filesystem::path& folder) {
  return folder / "serving.json";
}

std::filesystem::path cluster_folder(const std::filesystem::path& folder) {
  return folder / ".millrace";
}

std::string cluster_settings() { return "max_connections = 800\n"; }

Cost cost_between(const Reading& before, const Reading& end, const Reading& after,
                  std::int64_t jobs) {
  const auto difference = [](std::int64_t from, std::int64_t to) {
    return static_cast<double>(to - from);
  };
  return {.jobs = jobs,
          .wal_bytes = difference(before.server.wal_bytes, end.server.wal_bytes),
          .commits = difference(before.server.commits, after.server.commits),
          .rows_written = difference(before.server.rows_written, after.server.rows_written),
          .rows_dead = difference(before.server.rows_dead, after.server.rows_dead),
          .server_cpu_seconds = end.server_cpu - before.server_cpu,
          .client_cpu_seconds = end.client_cpu - before.client_cpu,
          .wall_seconds = Seconds(end.at - before.at).count()};
}

World::World(Context& context, const BenchOptions& options)
    : context_(context), options_(options), folder_(std::filesystem::absolute(options.folder)) {}

World::~World() { close(); }

void World::close() {
  if (private_) (void)private_->cluster.stop();
}

Result<void> World::open() {
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  // The environment's database is for work; only one named on the command line is measured.
  if (context_.settings.get("database.url").origin == "--database-url") {
    MR_TRY_VOID(open_given());
  } else if (options_.served) {
    MR_TRY_VOID(open_served());
  } else {
    MR_TRY_VOID(open_private());
  }
  return find_server();
}

Result<void> World::open_given() {
  MR_TRY(database_, find_database(context_.settings));
  MR_TRY(auto connection, connect_plain(database_));
  MR_TRY_VOID(migrate_up(context_, connection, {}));
  MR_TRY(auto store, connect());
  MR_TRY(const auto counts, store.counts());
  if (counts.enqueued > 0 && !options_.force) {
    return fail(Error{.kind = ErrorKind::conflict,
                      .message = fmt::format("this database holds {} jobs of others",
                                             group_digits(counts.enqueued)),
                      .hint = "take an empty one, or add --force"});
  }
  return {};
}

Result<void> World::open_served() {
  // Its database is thrown away, so it must be the bench's own cluster and nobody else's.
  if (::access(serving_file(folder_).c_str(), F_OK) != 0) {
    return fail(ErrorKind::not_found,
                fmt::format("no 'millrace bench serve' runs in {}", folder_.string()));
  }
  MR_TRY(const auto url, running_cluster_url(cluster_folder(folder_)));
  if (!url) return fail(ErrorKind::unavailable, "the bench's cluster has ended");
  database_ = {.url = *url,
               .origin = fmt::format("private cluster in {}", folder_.string()),
               .is_private = true};
  return recreate_database(context_, database_);
}

Result<void> World::open_private() {
  PrivateDatabase::Options open{
      .data_dir = cluster_folder(folder_), .fresh = true, .local_settings = cluster_settings()};
  MR_TRY(auto opened, PrivateDatabase::open(context_, open));
  private_ = std::make_unique<PrivateDatabase>(std::move(opened));
  database_ = private_->database;
  return {};
}

Result<void> World::find_server() {
  MR_TRY(auto store, connect());
  const auto table = ProcessTable::read();
  const pid_t parent = table.parent(store.connection().backend_pid());
  // A process number of another machine may by chance be one of ours: it must be a server.
  std::string name;
  std::ifstream(fmt::format("/proc/{}/comm", parent)) >> name;
  if (parent > 1 && name.starts_with("postgres")) server_pid_ = parent;
  return {};
}

Result<void> World::fresh() {
  if (!std::exchange(used_, true) || !database_.is_private) return {};
  return recreate_database(context_, database_);
}

Result<void> World::set_up(store::AdminStore& store) {
  for (const char* queue : {kBenchQueue, kClockQueue}) {
    MR_TRY(const bool exists, store.queue_exists(queue));
    if (!exists) MR_TRY_VOID(store.set_queue(queue, {}));
  }
  MR_TRY_VOID(store.ensure_job_types({kNoopType, kLimitedType, kSleepType}, kBenchQueue));
  MR_TRY_VOID(store.ensure_job_types({kClockType}, kClockQueue));
  return store.pause_queue(kBenchQueue, "bench");
}

Result<json::Object> World::describe() {
  MR_TRY(auto store, connect());
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
                      {"full_page_writes", text_member(server, "full_page_writes")},
                      {"shared_buffers", text_member(server, "shared_buffers")},
                      {"max_connections", int_member(server, "max_connections")},
                      {"connection", database_.is_private ? "unix socket" : "as given"},
                      {"history", "audit, events and counters on; the outcome of every job kept"},
                      {"payload_bytes", options_.payload_bytes},
                      {"repeats", options_.repeats},
                      {"version", std::string(kVersion)},
                      {"optimised", optimised},
                      {"at", format_timestamp(context_.clock.wall())}};
}

std::string World::payload(std::int64_t number) const {
  auto text = fmt::format(R"({{"number":{},"fill":")", number);
  const auto size = static_cast<std::int64_t>(text.size()) + 2;
  text.append(static_cast<std::size_t>(std::max<std::int64_t>(0, options_.payload_bytes - size)),
              'x');
  return text + "\"}";
}

Result<Reading> World::read(store::AdminStore& store) const {
  Reading reading;
  MR_TRY(reading.server, store::server_counters(store.connection()));
  const auto table = ProcessTable::read();
  if (server_pid_ > 0) reading.server_cpu = table.cpu_seconds(server_pid_);
  // A private server is a child of ours, but no client.
  reading.client_cpu = table.cpu_seconds(::getpid(), server_pid_);
  reading.at = context_.clock.now();
  return reading;
}

Result<Reading> World::read_after(store::AdminStore& store, std::int64_t quiet) const {
  using namespace std::chrono_literals;
  const auto begin = context_.clock.now();
  while (since(begin) < 2) {
    MR_TRY(const auto others, store::other_sessions(store.connection()));
    if (others <= quiet) break;
    pause_until(context_.clock.now() + 10ms);
  }
  return read(store);
}

void World::tell(const std::string& name, double value, const std::string& unit) const {
  if (context_.terminal.err_tty && !context_.json()) {
    context_.note(
        context_.terminal.paint(Style::dim, fmt::format("  {}: {:.1f} {}", name, value, unit)));
  }
}

double World::since(Clock::Steady begin) const {
  return Seconds(context_.clock.now() - begin).count();
}

void World::pause_until(Clock::Steady time) const { std::this_thread::sleep_until(time); }

}  // namespace millrace::app
