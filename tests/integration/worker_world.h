// World: a database, and worker processes' parts in this process, on one io_context.
#pragma once

#include "base/log.h"
#include "base/run.h"
#include "base/spawn.h"
#include "keeper/keeper.h"
#include "pg/pool.h"
#include "store/pg_job_store.h"
#include "store/pg_keeper_store.h"
#include "store/pg_wake_source.h"
#include "support/database.h"
#include "worker/runtime.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::test {

// What a runtime needs, as the roles that the product uses.
struct Worker {
  Worker(boost::asio::io_context& io, const std::string& url, Clock& clock, Random& random,
         Logger& log, worker::Options options, worker::HandlerRegistry handlers, bool listen)
      : work(io.get_executor(), pg::connect_options(url), {.connections_max = 4}, random),
        beats(io.get_executor(), pg::connect_options(url), {.connections_max = 1}, random),
        store(work, beats,
              {.acquire = std::chrono::milliseconds(500),
               .call = std::chrono::seconds(30),
               .beat = std::chrono::seconds(10)}),
        wake(pg::connect_options(url)),
        runtime(io.get_executor(),
                {.store = store,
                 .wake = listen ? &wake : nullptr,
                 .clock = clock,
                 .random = random,
                 .log = log},
                std::move(options), std::move(handlers)) {
    spawn(io.get_executor(), run(), log, "worker");
  }
  awaitable<void> run() {
    auto result = co_await runtime.run();
    if (result.has_value()) {
      report = *result;
    } else {
      error = result.error();
    }
  }
  bool ended() const { return report.has_value() || error.has_value(); }

  pg::Pool work;
  pg::Pool beats;
  store::PgJobStore store;
  store::PgWakeSource wake;
  worker::Runtime runtime;
  std::optional<worker::RunReport> report;
  std::optional<Error> error;
};

class WorldTest : public ::testing::Test {
 protected:
  WorldTest() {
    options.slots = 4;
    options.prefetch = 0;
    options.lease = std::chrono::seconds(30);
    options.poll_interval = std::chrono::milliseconds(50);
    options.beat_interval = std::chrono::milliseconds(100);
    options.report_interval = std::chrono::milliseconds(50);
    options.host = "test";
    options.drain_timeout = std::chrono::milliseconds(200);
  }
  void TearDown() override {
    for (auto& worker : workers_) worker->runtime.drain();
    run_until([&] {
      return std::ranges::all_of(workers_, [](const auto& worker) { return worker->ended(); });
    });
    if (keeper_) run_blocking(io, keeper_->stop());
    workers_.clear();
    io.restart();
    io.poll();
  }

  Worker& start_worker(bool listen = false, std::string url = {}) {
    if (url.empty()) url = database.url("millrace_worker");
    workers_.push_back(std::make_unique<Worker>(io, url, clock, random, log, options,
                                                std::move(handlers), listen));
    handlers = {};
    return *workers_.back();
  }

  // Runs everything until `done`; fails the test after half a minute.
  void run_until(const std::function<bool()>& done) {
    const auto deadline = clock.now() + std::chrono::seconds(30);
    while (!done()) {
      if (clock.now() > deadline) {
        ADD_FAILURE() << "nothing more happens";
        for (const auto& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
        return;
      }
      io.restart();
      io.run_for(std::chrono::milliseconds(5));
    }
  }

  std::string enqueue(const std::string& type, const std::string& payload,
                      const std::string& options_json = "{}") {
    return text("select millrace.enqueue_job($1, $2::jsonb, $3::jsonb)", type, payload,
                options_json);
  }
  // The first column of the first row as text, "" for null or no row.
  template <class... Args>
  std::string text(const std::string& sql, const Args&... args) {
    auto rows = must(admin.query(sql, pg::params(args...)));
    if (rows.empty()) return {};
    return rows[0].opt_text(0).value_or("");
  }
  std::string status(const std::string& id) {
    return text("select status from millrace.jobs where job_id = $1::uuid", id);
  }
  void run_until_status(const std::string& id, const std::string& wanted) {
    run_until([&] { return status(id) == wanted; });
  }
  bool logged(std::string_view part) const {
    return std::ranges::any_of(lines, [&](const auto& line) { return line.contains(part); });
  }
  // The policy of a queue of the test's own, without delays.
  void make_queue(const std::string& name, const std::string& policy) {
    must(admin.query("select millrace.set_queue($1, $2::jsonb)", pg::params(name, policy)));
  }

  TestDatabase database;
  pg::SyncConnection admin = database.connect();
  boost::asio::io_context io{1};
  SystemClock clock;
  SystemRandom random;
  std::vector<std::string> lines;
  Logger log{clock, [this](std::string_view line) { lines.emplace_back(line); },
             Logger::Format::json, LogLevel::info};
  worker::Options options;
  worker::HandlerRegistry handlers;

  void start_keeper() {
    keeper_pool_ = std::make_unique<pg::Pool>(io.get_executor(),
                                              pg::connect_options(database.url("millrace_keeper")),
                                              pg::PoolOptions{.connections_max = 2}, random);
    keeper_store_ = std::make_unique<store::PgKeeperStore>(*keeper_pool_);
    keeper_ = std::make_unique<keeper::Keeper>(io.get_executor(), *keeper_store_, clock, random,
                                               log, keeper::Options{.holder = "test-keeper"});
    keeper_->start();
  }

 private:
  std::unique_ptr<pg::Pool> keeper_pool_;
  std::unique_ptr<store::PgKeeperStore> keeper_store_;
  std::unique_ptr<keeper::Keeper> keeper_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace millrace::test
