#include "base/clock.h"

#include "base/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>
#include <mutex>
#include <vector>

namespace millrace {

namespace asio = boost::asio;

Clock::Steady SystemClock::now() const { return std::chrono::steady_clock::now(); }

Clock::Wall SystemClock::wall() const { return std::chrono::system_clock::now(); }

awaitable<void> SystemClock::sleep_for(Duration duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

struct ManualClock::State {
  mutable std::mutex mutex;  // Guards all below.
  Steady now{std::chrono::hours(1)};
  Wall wall{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};
  std::multimap<Steady, Event> sleepers;
  std::multimap<std::size_t, Event> watchers;  // By the number of sleepers they wait for.

  // Takes out the watchers that have seen enough; they are woken without the lock.
  std::vector<Event> satisfied_watchers() {
    std::vector<Event> result;
    const auto end = watchers.upper_bound(sleepers.size());
    for (auto it = watchers.begin(); it != end; ++it) result.push_back(it->second);
    watchers.erase(watchers.begin(), end);
    return result;
  }
};

ManualClock::ManualClock() : state_(std::make_shared<State>()) {}
ManualClock::~ManualClock() = default;

Clock::Steady ManualClock::now() const {
  const std::lock_guard lock(state_->mutex);
  return state_->now;
}

Clock::Wall ManualClock::wall() const {
  const std::lock_guard lock(state_->mutex);
  return state_->wall;
}

awaitable<void> ManualClock::sleep_for(Duration duration) {
  auto state = state_;
  Event wakeup;
  std::multimap<Steady, Event>::iterator place;
  std::vector<Event> watchers;
  {
    const std::lock_guard lock(state->mutex);
    if (duration <= Duration::zero()) co_return;
    place = state->sleepers.emplace(state->now + duration, wakeup);
    watchers = state->satisfied_watchers();
  }
  for (auto& watcher : watchers) watcher.set();
  const bool woken = co_await wakeup.wait();
  if (woken) co_return;  // advance() has removed us.
  const std::lock_guard lock(state->mutex);
  if (!wakeup.is_set()) state->sleepers.erase(place);
}

void ManualClock::advance(Duration duration) {
  const std::lock_guard lock(state_->mutex);
  state_->now += duration;
  state_->wall += std::chrono::duration_cast<Wall::duration>(duration);
  const auto end = state_->sleepers.upper_bound(state_->now);
  // Set under the lock, so that a cancelled sleeper knows whether it was removed.
  for (auto it = state_->sleepers.begin(); it != end; ++it) it->second.set();
  state_->sleepers.erase(state_->sleepers.begin(), end);
}

void ManualClock::set_wall(Wall wall) {
  const std::lock_guard lock(state_->mutex);
  state_->wall = wall;
}

std::size_t ManualClock::sleepers() const {
  const std::lock_guard lock(state_->mutex);
  return state_->sleepers.size();
}

std::optional<Clock::Steady> ManualClock::next_wakeup() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->sleepers.empty()) return std::nullopt;
  return state_->sleepers.begin()->first;
}

awaitable<void> ManualClock::wait_for_sleepers(std::size_t count) {
  auto state = state_;
  Event enough;
  {
    const std::lock_guard lock(state->mutex);
    if (state->sleepers.size() >= count) co_return;
    state->watchers.emplace(count, enough);
  }
  co_await enough.wait();
}

}  // namespace millrace
