#include "client/convert.h"
#include "client/engine.h"
#include "client/public_context.h"
#include "cluster/private_cluster.h"
#include "sql_files.h"
#include "store/admin_store.h"
#include "store/migrator.h"

#include <fmt/format.h>
#include <millrace/testing.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

namespace millrace::client {

struct TestDatabase::Impl {
  ~Impl() {
    cluster.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }

  SystemClock clock;
  Logger log = Logger::silent();
  std::filesystem::path directory;
  std::optional<cluster::PrivateCluster> cluster;
  std::string url;
};

TestDatabase::TestDatabase(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TestDatabase::TestDatabase(TestDatabase&&) noexcept = default;
TestDatabase& TestDatabase::operator=(TestDatabase&&) noexcept = default;
TestDatabase::~TestDatabase() = default;

const std::string& TestDatabase::url() const { return impl_->url; }

Result<TestDatabase> TestDatabase::create() {
  auto impl = std::make_unique<Impl>();
  SystemRandom random;
  impl->directory = std::filesystem::temp_directory_path() /
                    fmt::format("millrace-test-{:08x}", random.below(1ULL << 32));
  auto made = cluster::PrivateCluster::open_or_create({.data_dir = impl->directory}, impl->clock,
                                                      impl->log);
  if (!made) return fail_public(made.error());
  impl->cluster.emplace(std::move(*made));
  if (const auto started = impl->cluster->start(); !started) return fail_public(started.error());
  impl->url = impl->cluster->url();
  auto connection = pg::SyncConnection::connect(impl->url);
  if (!connection) return fail_public(connection.error());
  store::Migrator migrator(*connection, sql::embedded_sql(), impl->clock, impl->log);
  if (const auto up = migrator.up({.create_client_roles = true, .engine_login = true}); !up) {
    return fail_public(up.error());
  }
  return TestDatabase(std::move(impl));
}

namespace {

// Ends the engine when the one delivery is done, or when none came in time.
class Watchdog {
 public:
  Watchdog(Engine& engine, std::chrono::seconds limit)
      : thread_([this, &engine, limit] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, limit, [this] { return ended_; })) engine.drain();
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;  // Guards ended_.
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

std::string text_of(const json::Object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return {};
  return to_json(*value);
}

RanJob read(const std::string& id, const json::Object& job) {
  RanJob ran{.job_id = id,
             .status = std::string(job.at("status").as_string()),
             .result = text_of(job, "result"),
             .error = text_of(job, "error"),
             .json = to_json(job)};
  const auto& attempts = job.at("attempts").as_array();
  if (ran.error.empty() && !attempts.empty())
    ran.error = text_of(attempts.back().as_object(), "error");
  return ran;
}

}  // namespace

Result<RanJob> run_one(const TestDatabase& database, const JobSpec& job, HandlerFunction handler) {
  auto store = store::AdminStore::connect(pg::connect_options(database.url()));
  if (!store) return fail_public(store.error());
  const std::string queue = job.queue.empty() ? "default" : job.queue;
  if (const auto known = store->ensure_job_types({job.job_type}, queue); !known) {
    return fail_public(known.error());
  }
  auto spec = spec_to_json(job);
  if (!spec) return std::unexpected(std::move(spec).error());
  (*spec)["queue"] = queue;
  const auto enqueued = store->enqueue_jobs({std::move(*spec)});
  if (!enqueued) return fail_public(enqueued.error());

  EngineOptions options{.database_url = database.url(), .worker = {}, .keeper = false};
  options.worker.slots = 1;
  options.worker.prefetch = 0;
  options.worker.queues = {{.name = queue}};
  Engine engine(std::move(options), Logger::silent());
  worker::HandlerRegistry handlers;
  bool delivered = false;
  auto once = [&](const Job& delivery, Context& context) {
    delivered = true;
    auto outcome = handler(delivery, context);
    engine.drain();
    return outcome;
  };
  const auto added = handlers.add_function(job.job_type, engine_function(once), {.queue = queue});
  if (!added) return fail_public(added.error());
  {
    const Watchdog watchdog(engine, std::chrono::seconds(60));
    if (const auto ran = engine.run(std::move(handlers)); !ran) return fail_public(ran.error());
  }
  if (!delivered) {
    return std::unexpected(Error{ErrorKind::unavailable, "the job was not due within 60 s", ""});
  }
  const auto found = store->get_job(enqueued->front().id);
  if (!found) return fail_public(found.error());
  return read(enqueued->front().id.to_string(), *found);
}

}  // namespace millrace::client
