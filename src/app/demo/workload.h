// Workload: the kinds of jobs of the demo, their handlers, and what must be true of them in the
// end.
//
// Flow: prepare() sets up queues, types and a provider limit; registry() gives the handlers, which
// write to the ledger; enqueue() puts everything in; nudge() plays the operator (cancels half-way,
// ends the cron schedule); checks() looks for order, limits and due times in the ledger afterwards.
// Threading: handlers run on the engine's threads; everything else on the demo's own.
#pragma once

#include "app/context.h"
#include "app/demo/ledger.h"
#include "http/client.h"
#include "store/admin_store.h"
#include "worker/handler_registry.h"
#include "worker/options.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct DemoKind {
  std::string title;     // "rate-limited"
  std::string job_type;  // "demo.limited"
  std::int64_t total = 0;
  std::string about;
};

struct DemoCheck {
  std::string claim;
  bool holds = false;
  std::string detail;
};

class Workload {
 public:
  struct Options {
    std::filesystem::path folder;    // For results and the ledger.
    std::filesystem::path examples;  // examples/exec, empty when not found.
    std::string http_url;
    double scale = 1;  // 1 is the usual size.
  };
  // `ledger` and `context` outlive it.
  Workload(Context& context, const Ledger& ledger, Options options);

  Result<void> prepare(store::AdminStore& store);
  Result<worker::HandlerRegistry> registry(http::Client& client);
  std::vector<worker::QueueChoice> queues() const;
  Result<void> enqueue(store::AdminStore& store);
  // True while something is left to do for the operator.
  Result<bool> nudge(store::AdminStore& store, const std::vector<store::TypeCounts>& counts);

  const std::vector<DemoKind>& kinds() const { return kinds_; }
  std::map<std::string, std::int64_t> enqueued() const { return enqueued_; }
  std::vector<std::string> types_without_ledger() const;
  // When the first handler started, if one did.
  std::optional<Clock::Steady> first_job() const;
  std::vector<DemoCheck> checks(const std::vector<LedgerLine>& ledger,
                                const std::vector<store::JobState>& states) const;

 private:
  Result<void> add_functions(worker::HandlerRegistry& registry);
  Result<void> add_programs(worker::HandlerRegistry& registry, http::Client& client);
  Result<void> enqueue_dependents(store::AdminStore& store);
  Result<void> enqueue_programs(store::AdminStore& store);
  Result<void> send(store::AdminStore& store, const json::Array& jobs);
  Result<void> cancel_halfway(store::AdminStore& store);
  void started();
  Outcome done(const ClaimedJob& job, std::string_view note = {}) const;
  std::int64_t size(std::int64_t usual) const;

  awaitable<Outcome> run_simple(std::shared_ptr<worker::JobContext> run);
  awaitable<Outcome> run_slow(std::shared_ptr<worker::JobContext> run);
  awaitable<Outcome> run_flaky(std::shared_ptr<worker::JobContext> run);
  awaitable<Outcome> run_limited(std::shared_ptr<worker::JobContext> run);
  awaitable<Outcome> run_broken(std::shared_ptr<worker::JobContext> run);
  awaitable<Outcome> run_cancelled(std::shared_ptr<worker::JobContext> run);
  awaitable<Outcome> run_scheduled(std::shared_ptr<worker::JobContext> run);

  Context& context_;
  const Ledger& ledger_;
  Options options_;
  std::vector<DemoKind> kinds_;
  std::map<std::string, std::int64_t> enqueued_;
  std::set<std::string> cancelled_;
  bool cron_set_ = false;

  mutable std::mutex mutex_;  // Guards what follows; written by handlers.
  std::optional<Clock::Steady> first_job_;
  std::vector<Clock::Steady> limited_at_;
};

}  // namespace millrace::app
