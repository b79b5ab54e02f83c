#include "keeper/keeper.h"

#include "base/either.h"

#include <algorithm>
#include <utility>

namespace millrace::keeper {

namespace {

using std::chrono::milliseconds;
using namespace either;

constexpr const char* kDuty = "keeper";
constexpr auto kWatchInterval = milliseconds(4'000);
constexpr auto kNudgedFor = milliseconds(1'000);
// A new keeper first does what jobs wait for: every call must be planned anew, and keepers change
// most often when processes die one after the other and the server has no time to spare.
constexpr int kFirstPauseShare = 10;
constexpr auto kFirstPauseMax = milliseconds(300);
constexpr int kRoundsMax = 100;  // Full batches in a row before the others' connections get a turn.

}  // namespace

std::chrono::milliseconds keeper_ttl(std::chrono::milliseconds worker_lease) {
  return std::clamp<milliseconds>(worker_lease / 3, milliseconds(300), milliseconds(10'000));
}

Keeper::Keeper(Executor executor, store::KeeperStore& store, Clock& clock, Random& random,
               Logger& log, Options options, std::vector<Duty> duties)
    : store_(store),
      clock_(clock),
      random_(random),
      log_(log),
      options_(std::move(options)),
      duties_(std::move(duties)),
      tasks_(std::move(executor), log_) {}

void Keeper::start() {
  if (started_ || stopping_.is_set()) return;
  started_ = true;
  tasks_.add("keeper election", run_election());
  tasks_.add("keeper watch", run_watch());
  for (std::size_t i = 0; i < duties_.size(); ++i) {
    tasks_.add("keeper duty " + duties_[i].name, run_duty(i));
  }
}

awaitable<void> Keeper::stop() {
  stopping_.set();
  co_await tasks_.join();
  if (!leading_) co_return;
  set_leading(false, {});
  const auto resigned = co_await store_.resign(kDuty, options_.holder);
  if (!resigned.has_value()) {
    log_.warn("keeper_resign_failed", {{"error", resigned.error().describe()}});
  }
}

bool Keeper::leading() const { return leading_ && clock_.now() < held_until_; }

void Keeper::set_leading(bool leading, Clock::Steady held_until) {
  held_until_ = held_until;
  if (leading == leading_) return;
  leading_ = leading;
  if (leading) {
    busy_.set();
    elected_.set();
    log_.info("keeper_elected", {{"holder", options_.holder}});
  } else {
    elected_.reset();
    log_.info("keeper_stepped_down", {{"holder", options_.holder}});
  }
}

awaitable<void> Keeper::pause(milliseconds duration) {
  if (stopping_.is_set()) co_return;
  co_await (clock_.sleep_for(duration) || stopping_.wait());
}

awaitable<void> Keeper::run_election() {
  while (!stopping_.is_set()) {
    const auto asked_at = clock_.now();  // Our view must never outlast the database's.
    auto elected = co_await store_.elect(kDuty, options_.holder, options_.ttl);
    if (elected.has_value()) {
      set_leading(*elected, asked_at + options_.ttl);
    } else {
      log_.warn("keeper_election_failed", {{"error", elected.error().describe()}});
      if (leading_ && clock_.now() >= held_until_) set_leading(false, {});
    }
    co_await pause(random_.jitter(options_.ttl / 3, 0.1));
  }
}

void Keeper::nudge() { nudged_.set(); }

awaitable<void> Keeper::run_watch() {
  // Where leases are short, work that came while the keeper rested must not be lost for longer.
  const auto interval = std::min(kWatchInterval, options_.ttl);
  while (!stopping_.is_set()) {
    if (!leading()) {
      if (!elected_.is_set()) co_await (elected_.wait() || stopping_.wait());
      if (!stopping_.is_set() && !leading()) co_await pause(interval);
      continue;
    }
    if (nudged_.is_set()) {
      // Work has come, but may not be seen yet: what follows from it is to find the duties awake.
      nudged_.reset();
      busy_.set();
      co_await pause(std::min(interval, kNudgedFor));
      if (stopping_.is_set() || !leading()) continue;
    }
    const auto at_hand = co_await store_.work_at_hand();
    // Who cannot be asked may have something.
    if (!at_hand.has_value() || *at_hand) {
      busy_.set();
    } else if (!nudged_.is_set()) {
      busy_.reset();
    }
    if (stopping_.is_set()) co_return;
    co_await (clock_.sleep_for(random_.jitter(interval, 0.1)) || nudged_.wait() ||
              stopping_.wait());
  }
}

awaitable<void> Keeper::run_duty(std::size_t index) {
  const Duty& duty = duties_[index];
  auto wait = duty.interval;
  bool fresh = true;
  while (!stopping_.is_set()) {
    if (!leading()) {
      fresh = true;
      if (!elected_.is_set()) co_await (elected_.wait() || stopping_.wait());
      // Elected, but the lease has run out unrenewed: the election loop will say.
      if (!stopping_.is_set() && !leading()) co_await pause(duty.interval);
      continue;
    }
    if (std::exchange(fresh, false)) {
      co_await pause(std::min(duty.interval / kFirstPauseShare, kFirstPauseMax));
      continue;
    }
    const bool succeeded = co_await run_batches(duty);
    wait = succeeded ? duty.interval
                     : std::min(std::max(wait * 2, milliseconds(500)), options_.failure_pause_max);
    if (succeeded && !busy_.is_set() && duty.quiet_interval > duty.interval) {
      if (stopping_.is_set()) co_return;
      co_await (clock_.sleep_for(duty.quiet_interval) || busy_.wait() || stopping_.wait());
    } else {
      co_await pause(std::max(wait, duty.interval));
    }
  }
}

awaitable<bool> Keeper::run_batches(const Duty& duty) {
  std::int64_t handled = 0;
  for (int round = 0; round < kRoundsMax; ++round) {
    if (stopping_.is_set() || !leading()) break;
    auto count = co_await duty.run(store_, log_, duty.batch_max);
    if (!count.has_value()) {
      log_.warn("keeper_duty_failed",
                {{"duty", duty.name}, {"handled", handled}, {"error", count.error().describe()}});
      if (options_.on_duty) options_.on_duty(duty.name, false, handled);
      co_return false;
    }
    handled += *count;
    if (duty.batch_max == 0 || *count < duty.batch_max) break;
  }
  if (handled > 0) log_.debug("keeper_duty", {{"duty", duty.name}, {"handled", handled}});
  if (options_.on_duty) options_.on_duty(duty.name, true, handled);
  co_return true;
}

}  // namespace millrace::keeper
