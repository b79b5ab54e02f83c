#include "worker/process_lease.h"

#include "base/either.h"
#include "base/fault.h"
#include "worker/backoff.h"
#include "worker/pause.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::worker {

namespace {

using namespace either;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

// A beat tells what registering does not, as which queues have limits: the first one comes soon.
constexpr milliseconds kFirstBeat{1000};
// Handlers must have been told to stop when the database gives their jobs away.
constexpr int kMarginShare = 10;

}  // namespace

ProcessLease::ProcessLease(store::JobStore& store, Clock& clock, Random& random, Logger& log,
                           const Options& options, std::vector<std::string> job_types,
                           Callbacks callbacks)
    : store_(store),
      clock_(clock),
      random_(random),
      log_(log),
      options_(options),
      job_types_(std::move(job_types)),
      callbacks_(std::move(callbacks)) {}

milliseconds ProcessLease::beat_interval() const {
  return std::clamp(options_.beat_interval, 1ms, std::max(1ms, options_.lease / 3));
}

void ProcessLease::stop() {
  stopping_.set();
  beat_now_.set();
}

void ProcessLease::doubt() { beat_now_.set(); }

void ProcessLease::set_draining() {
  draining_ = true;
  beat_now_.set();
}

std::int64_t ProcessLease::client_time_ms() const {
  return std::chrono::duration_cast<milliseconds>(clock_.wall().time_since_epoch()).count();
}

std::string ProcessLease::new_worker_id() {
  return fmt::format("{}-{}-{}-{:08x}", options_.worker_id_prefix, options_.host, options_.pid,
                     static_cast<std::uint32_t>(random_.next()));
}

awaitable<void> ProcessLease::run() {
  while (!stopping_.is_set()) {
    co_await register_process();
    if (key_) co_await beat_until_lost();
  }
}

awaitable<void> ProcessLease::register_process() {
  Backoff backoff(random_, 100ms, 2s);  // As soon as the database is back, so are we.
  while (!stopping_.is_set()) {
    store::WorkerInfo info{.supervisor_id = options_.supervisor_id,
                           .host = options_.host,
                           .pid = options_.pid,
                           .version = options_.version,
                           .slots = options_.slots,
                           .queues = {},
                           .job_types = job_types_,
                           .lease = options_.lease,
                           .client_time_ms = client_time_ms()};
    for (const auto& queue : options_.queues) info.queues.push_back(queue.name);
    // A new name at every try: one whose answer was lost must not be taken for ours.
    const auto worker_id = new_worker_id();
    const auto asked_at = clock_.now();  // Our view must never outlast the database's.
    auto nonce = co_await store_.register_worker(worker_id, std::move(info));
    if (nonce.has_value()) {
      key_ = store::WorkerKey{.worker_id = worker_id, .process = *nonce};
      held_until_ = asked_at + options_.lease - options_.lease / kMarginShare;
      registered_.set();
      log_.info("worker_registered", {{"worker_id", worker_id}, {"slots", options_.slots}});
      if (options_.on_registered) options_.on_registered(worker_id);
      co_return;
    }
    const auto pause = backoff.next();
    log_.warn("worker_not_registered", {{"error", nonce.error().describe()}, {"retry_in", pause}});
    co_await wait_for(clock_, stopping_, pause);
  }
}

awaitable<void> ProcessLease::beat_until_lost() {
  const auto interval = beat_interval();
  auto wait = std::min<milliseconds>(interval, kFirstBeat);
  while (!stopping_.is_set()) {
    beat_now_.reset();
    const auto next = std::min(clock_.now() + random_.jitter(wait, 0.1), held_until_);
    co_await wait_until(clock_, beat_now_, next);
    if (stopping_.is_set()) co_return;
    const auto beat = co_await beat_once();
    if (stopping_.is_set()) co_return;
    switch (beat) {
      case Beat::renewed:
        wait = interval;
        break;
      case Beat::failed:
        if (clock_.now() >= held_until_) {
          MR_SOMETIMES(true, "lease_given_up_by_own_clock");
          lose("the database did not answer for the whole lease");
          co_return;
        }
        wait = std::max(interval / 4, 1ms);
        break;
      case Beat::dead:
        MR_SOMETIMES(true, "declared_dead_and_noticed");
        lose("the database has declared this process dead");
        co_return;
    }
  }
}

awaitable<ProcessLease::Beat> ProcessLease::beat_once() {
  const auto asked_at = clock_.now();
  const store::BeatInfo info{
      .running = callbacks_.running(), .draining = draining_, .client_time_ms = client_time_ms()};
  // An answer that comes after the lease has ended is of no use, so nobody waits for it.
  auto outcome = co_await (store_.beat_worker(*key_, info) || clock_.sleep_until(held_until_));
  auto* answer = std::get_if<0>(&outcome);
  if (answer == nullptr) co_return Beat::failed;
  if (!answer->has_value()) {
    const auto& error = answer->error();
    MR_SOMETIMES(true, "beat_failed");
    log_.warn("beat_failed", {{"error", error.describe()}});
    co_return error.kind == ErrorKind::lease_lost ? Beat::dead : Beat::failed;
  }
  const auto& beat = **answer;
  if (!beat.alive) co_return Beat::dead;
  const auto lease = beat.lease > 0ms ? beat.lease : options_.lease;
  held_until_ = asked_at + lease - lease / kMarginShare;
  for (const auto& request : beat.cancel) callbacks_.cancel(request);
  callbacks_.suspects(beat.suspects);
  callbacks_.limited(beat.limited);
  co_return Beat::renewed;
}

void ProcessLease::lose(std::string_view why) {
  log_.error("process_lease_lost", {{"worker_id", key_->worker_id}, {"why", why}});
  key_.reset();
  registered_.reset();
  callbacks_.lost();
}

}  // namespace millrace::worker
