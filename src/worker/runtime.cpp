#include "worker/runtime.h"

#include "base/either.h"
#include "base/event.h"
#include "base/spawn.h"
#include "worker/backoff.h"
#include "worker/dispatcher.h"
#include "worker/fetcher.h"
#include "worker/pause.h"
#include "worker/process_lease.h"
#include "worker/reporter.h"
#include "worker/settler.h"

#include <algorithm>
#include <utility>

namespace millrace::worker {

namespace {

using namespace either;
using namespace std::chrono_literals;

constexpr auto kLookAfterMax = 500ms;

}  // namespace

struct Runtime::Parts {
  Parts(Executor executor, Services given, Options chosen, HandlerRegistry registry);

  Task<void> prepare();
  awaitable<void> look_after();
  awaitable<void> drain_in_order();
  awaitable<bool> wait_until_settled(Clock::Steady deadline);
  awaitable<void> retire();
  awaitable<void> close();
  awaitable<void> until_closing(awaitable<void> loop);
  ProcessLease::Callbacks lease_callbacks();

  Services services;
  const Options options;
  const HandlerRegistry handlers;
  Event drain;
  Event kill;
  Event closing;
  Settler settler;
  Reporter reporter;
  Dispatcher dispatcher;
  ProcessLease lease;
  Fetcher fetcher;
  TaskGroup tasks;
};

Runtime::Parts::Parts(Executor executor, Services given, Options chosen, HandlerRegistry registry)
    : services(given),
      options(std::move(chosen)),
      handlers(std::move(registry)),
      settler(services.store, services.clock, services.random, services.log,
              [this](std::span<Settler::Answered> answers) { dispatcher.answered(answers); }),
      reporter(services.store, services.clock, services.log, options.report_interval,
               [this](JobId id, LeaseToken token) { dispatcher.cancel(id, token, "cancelled"); }),
      dispatcher(executor,
                 {.store = services.store,
                  .settler = settler,
                  .reporter = reporter,
                  .clock = services.clock,
                  .log = services.log,
                  .leased = [this](Clock::Steady now) { return lease.held_at(now); }},
                 options, handlers),
      lease(services.store, services.clock, services.random, services.log, options,
            handlers.job_types(), lease_callbacks()),
      fetcher({.store = services.store,
               .wake = services.wake,
               .clock = services.clock,
               .random = services.random,
               .log = services.log},
              options, handlers.job_types(), lease, dispatcher),
      tasks(executor, services.log) {}

ProcessLease::Callbacks Runtime::Parts::lease_callbacks() {
  return {.lost =
              [this] {
                dispatcher.lose_all();
                fetcher.forget_marks();
              },
          .cancel =
              [this](const store::CancelRequest& request) {
                dispatcher.cancel(request.id, request.token, request.reason);
              },
          .suspects = [this](int count) { fetcher.set_suspects(count); },
          .limited = [this](const auto& queues) { fetcher.set_limited(queues); },
          .running = [this] { return static_cast<int>(dispatcher.running()); }};
}

Runtime::Runtime(Executor executor, Services services, Options options, HandlerRegistry handlers)
    : parts_(std::make_unique<Parts>(std::move(executor), services, std::move(options),
                                     std::move(handlers))) {}

// Coroutines of handlers that cannot be stopped still refer to the parts: the process is about to
// leave, and they stay until then.
Runtime::~Runtime() {
  if (parts_->dispatcher.referred_to()) (void)parts_.release();
}

void Runtime::drain() { parts_->drain.set(); }

void Runtime::kill() {
  parts_->kill.set();
  parts_->drain.set();
}

RunStatus Runtime::status() const {
  const auto& dispatcher = parts_->dispatcher;
  return {.worker_id = parts_->lease.key() ? parts_->lease.key()->worker_id : std::string(),
          .running = dispatcher.running(),
          .waiting = dispatcher.waiting(),
          .unsettled = dispatcher.unsettled(),
          .settled = dispatcher.totals().settled,
          .fenced = dispatcher.totals().fenced,
          .draining = parts_->drain.is_set()};
}

Task<RunReport> Runtime::run() {
  auto& parts = *parts_;
  MR_CO_TRY_VOID(co_await parts.prepare());
  parts.dispatcher.tell_ended(
      [&parts](const std::string& queue) { parts.fetcher.note_ended(queue); });
  parts.settler.gather_while([&parts] { return parts.dispatcher.more_ends_at_once(); });
  parts.tasks.add("settler", parts.until_closing(parts.settler.run()));
  parts.tasks.add("reporter", parts.until_closing(parts.reporter.run()));
  parts.tasks.add("process lease", parts.until_closing(parts.lease.run()));
  parts.tasks.add("fetcher", parts.until_closing(parts.fetcher.run()));
  parts.tasks.add("listener", parts.until_closing(parts.fetcher.listen()));
  parts.tasks.add("deadlines", parts.until_closing(parts.dispatcher.watch_deadlines()));
  parts.tasks.add("lease care", parts.until_closing(parts.look_after()));
  co_await parts.drain.wait();
  co_await (parts.drain_in_order() || parts.kill.wait());
  co_await parts.close();
  co_return RunReport{.settled = parts.dispatcher.totals().settled,
                      .fenced = parts.dispatcher.totals().fenced,
                      .killed = parts.kill.is_set(),
                      .stuck_handlers = parts.dispatcher.running()};
}

// What must be there before the first claim.
Task<void> Runtime::Parts::prepare() {
  Backoff backoff(services.random, 100ms, 5s);
  for (const auto& [queue, job_types] : handlers.job_types_by_queue()) {
    while (!drain.is_set()) {
      auto ensured = co_await services.store.ensure_job_types(job_types, queue);
      if (ensured.has_value()) break;
      if (!should_repeat(ensured.error())) co_return fail(std::move(ensured).error());
      const auto pause = backoff.next();
      services.log.warn("database_not_ready",
                        {{"error", ensured.error().describe()}, {"retry_in", pause}});
      co_await wait_for(services.clock, drain, pause);
    }
  }
  if (!options.queues.empty() && !drain.is_set()) {
    const auto warm = co_await services.store.warm_up(options.queues.front().name);
    if (!warm.has_value()) {
      services.log.debug("not_warmed_up", {{"error", warm.error().describe()}});
    }
  }
  co_return ok();
}

awaitable<void> Runtime::Parts::look_after() {
  const auto interval = std::clamp<Clock::Duration>(options.lease / 6, 1ms, kLookAfterMax);
  while (!co_await wait_for(services.clock, closing, interval)) {
    co_await dispatcher.look_after_leases();
  }
}

awaitable<void> Runtime::Parts::drain_in_order() {
  services.log.info("draining",
                    {{"running", dispatcher.running()}, {"waiting", dispatcher.waiting()}});
  fetcher.stop();
  dispatcher.hand_back_waiting();
  lease.set_draining();
  const auto deadline = services.clock.now() + options.drain_timeout;
  co_await wait_until(services.clock, fetcher.ended(), deadline);  // A claim may be under way.
  if (!co_await wait_until_settled(deadline)) {
    services.log.warn("drain_timeout", {{"running", dispatcher.running()}});
    dispatcher.stop_all("the worker is draining");
    if (!co_await wait_until_settled(services.clock.now() + options.settle_timeout)) {
      services.log.error("drain_incomplete", {{"running", dispatcher.running()}});
    }
  }
  co_await retire();
}

awaitable<bool> Runtime::Parts::wait_until_settled(Clock::Steady deadline) {
  auto changed = dispatcher.changed();
  while (!dispatcher.all_settled()) {
    changed.reset();
    if (dispatcher.all_settled()) break;
    if (!co_await wait_until(services.clock, changed, deadline)) co_return false;
  }
  co_return true;
}

awaitable<void> Runtime::Parts::retire() {
  if (!lease.key()) co_return;
  const auto key = *lease.key();
  lease.stop();  // No beat may find the process gone and register it again.
  auto returned = co_await services.store.retire_worker(key);
  if (returned.has_value()) {
    services.log.info("worker_retired", {{"worker_id", key.worker_id}, {"returned", *returned}});
  } else {
    services.log.warn("worker_not_retired", {{"error", returned.error().describe()}});
  }
}

// Ends all loops. After a kill handlers are told to stop, but nobody waits long for them.
awaitable<void> Runtime::Parts::close() {
  if (kill.is_set()) {
    fetcher.stop();
    dispatcher.hand_back_waiting();
    dispatcher.stop_all("the worker was killed");
    co_await (retire() || services.clock.sleep_for(options.kill_timeout));
    settler.abandon();
    co_await (dispatcher.join() || services.clock.sleep_for(options.kill_timeout));
  } else if (!dispatcher.all_settled() || !fetcher.ended().is_set()) {
    settler.abandon();
  }
  lease.stop();
  reporter.stop();
  settler.stop();
  closing.set();
  co_await tasks.join();
  if (!kill.is_set() && dispatcher.stuck() == 0) co_await dispatcher.join();
}

awaitable<void> Runtime::Parts::until_closing(awaitable<void> loop) {
  co_await (std::move(loop) || closing.wait());
}

}  // namespace millrace::worker
