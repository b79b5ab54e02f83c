// The demo's handlers: what each kind of job does, and what it writes into the ledger.
#include "app/demo/workload.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kCancelRun = 15s;

json::Object payload_of(const ClaimedJob& job) {
  auto parsed = parse_json_object(job.payload_json);
  return parsed ? std::move(*parsed) : json::Object();
}

// A coroutine of the workload as a handler.
class DemoHandler final : public worker::Handler {
 public:
  using Run = awaitable<Outcome> (Workload::*)(std::shared_ptr<worker::JobContext>);
  DemoHandler(Workload& workload, Run run) : workload_(workload), run_(run) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override {
    return (workload_.*run_)(std::move(context));
  }

 private:
  Workload& workload_;
  Run run_;
};

}  // namespace

Result<void> Workload::add_functions(worker::HandlerRegistry& registry) {
  const std::pair<const char*, DemoHandler::Run> all[] = {
      {"demo.instant", &Workload::run_simple},      {"demo.cron", &Workload::run_simple},
      {"demo.batch", &Workload::run_simple},        {"demo.batch_end", &Workload::run_simple},
      {"demo.dependent", &Workload::run_simple},    {"demo.serial", &Workload::run_simple},
      {"demo.slow", &Workload::run_slow},           {"demo.flaky", &Workload::run_flaky},
      {"demo.limited", &Workload::run_limited},     {"demo.broken", &Workload::run_broken},
      {"demo.cancelled", &Workload::run_cancelled}, {"demo.scheduled", &Workload::run_scheduled},
  };
  for (const auto& [type, run] : all) {
    const std::string queue = std::string_view(type) == "demo.instant" ? "demo-bulk" : "demo";
    MR_TRY_VOID(registry.add(type, std::make_unique<DemoHandler>(*this, run), {.queue = queue}));
  }
  return {};
}

void Workload::started() {
  const std::lock_guard lock(mutex_);
  if (!first_job_) first_job_ = context_.clock.now();
}

std::optional<Clock::Steady> Workload::first_job() const {
  const std::lock_guard lock(mutex_);
  return first_job_;
}

Outcome Workload::done(const ClaimedJob& job, std::string_view note) const {
  ledger_.append(job.job_type, job.id, "done", note);
  return Outcome::ok();
}

awaitable<Outcome> Workload::run_simple(std::shared_ptr<worker::JobContext> run) {
  started();
  co_return done(run->job(), text_member(payload_of(run->job()), "note"));
}

awaitable<Outcome> Workload::run_slow(std::shared_ptr<worker::JobContext> run) {
  started();
  for (int step = 1; step <= 10; ++step) {
    co_await run->clock().sleep_for(50ms);
    run->progress(step * 10, fmt::format("step {} of 10", step));
  }
  co_return done(run->job());
}

awaitable<Outcome> Workload::run_flaky(std::shared_ptr<worker::JobContext> run) {
  started();
  const auto& job = run->job();
  if (job.attempt > int_member(payload_of(job), "failures")) co_return done(job);
  ledger_.append(job.job_type, job.id, "retry");
  run->log(LogLevel::warn, fmt::format("attempt {} fails", job.attempt));
  co_return Outcome::retry("flaky", "this attempt was meant to fail");
}

awaitable<Outcome> Workload::run_limited(std::shared_ptr<worker::JobContext> run) {
  started();
  {
    const std::lock_guard lock(mutex_);
    limited_at_.push_back(context_.clock.now());
  }
  co_await run->clock().sleep_for(20ms);
  co_return done(run->job());
}

awaitable<Outcome> Workload::run_broken(std::shared_ptr<worker::JobContext>) {
  started();
  co_return Outcome::permanent("broken", "the payload makes no sense");
}

awaitable<Outcome> Workload::run_cancelled(std::shared_ptr<worker::JobContext> run) {
  started();
  const auto& job = run->job();
  for (int percent = 1; percent <= 100; ++percent) {
    run->progress(percent, "waiting to be cancelled");
    co_await run->clock().sleep_for(kCancelRun / 100);
    if (!run->cancelled()) continue;
    ledger_.append(job.job_type, job.id, "stopped", run->cancel_reason());
    co_return Outcome::cancelled(run->cancel_reason());
  }
  co_return done(job);
}

awaitable<Outcome> Workload::run_scheduled(std::shared_ptr<worker::JobContext> run) {
  started();
  const auto due = int_member(payload_of(run->job()), "due_ms");
  const auto now =
      std::chrono::duration_cast<milliseconds>(context_.clock.wall().time_since_epoch());
  co_return done(run->job(), fmt::format("late_ms={}", now.count() - due));
}

}  // namespace millrace::app
