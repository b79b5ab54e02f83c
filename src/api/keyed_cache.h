// KeyedCache: answers of the database that many requests need, kept for a short time.
//
// Flow: get() gives what is known and young enough; otherwise the first who asks goes and asks, and
// everybody else who wants the same key meanwhile waits for that one answer, error or not. An error
// is told to those who waited and not kept. When the one who asks is cancelled, the next asks.
// Threading: any thread. Lifetime: the clock outlives it; calls under way end before it goes away.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/task.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace millrace::api {

template <class Key, class Value>
class KeyedCache {
 public:
  using Ask = std::function<Task<Value>(Key key)>;

  struct Options {
    std::chrono::milliseconds ttl{1000};
    std::size_t entries_max = 10'000;
  };

  KeyedCache(const Clock& clock, Options options, Ask ask)
      : clock_(clock), options_(options), ask_(std::move(ask)) {}

  Task<Value> get(Key key) {
    for (;;) {
      std::shared_ptr<Flight> flight;
      bool mine = false;
      {
        const std::lock_guard lock(mutex_);
        const auto found = entries_.find(key);
        if (found != entries_.end() && clock_.now() < found->second.until) {
          co_return found->second.value;
        }
        auto& slot = flights_[key];
        mine = slot == nullptr;
        if (mine) slot = std::make_shared<Flight>();
        flight = slot;
      }
      if (mine) co_return co_await ask(std::move(key), std::move(flight));
      if (!co_await flight->landed.wait()) {
        co_return fail(ErrorKind::cancelled, "nobody waits for the answer any more");
      }
      if (flight->answer) co_return *flight->answer;
      // Whoever asked went away before the answer came.
    }
  }

  // What is known and young enough, without asking anybody.
  std::optional<Value> known(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || clock_.now() >= found->second.until) return std::nullopt;
    return found->second.value;
  }

  void forget(const Key& key) {
    const std::lock_guard lock(mutex_);
    entries_.erase(key);
  }

  // What is never asked for again stays until there are too many; who keeps large answers does not
  // wait for that.
  void forget_expired() {
    const std::lock_guard lock(mutex_);
    drop_expired();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  // Shared by the one who asks and those who wait. The answer is written before `landed` is set.
  struct Flight {
    Event landed;
    std::optional<Result<Value>> answer;
  };
  struct Entry {
    Value value;
    Clock::Steady until;
  };

  // Lands the flight however the coroutine ends.
  struct Landing {
    KeyedCache& cache;
    const Key& key;
    Flight& flight;
    ~Landing() {
      {
        const std::lock_guard lock(cache.mutex_);
        cache.flights_.erase(key);
      }
      flight.landed.set();
    }
  };

  Task<Value> ask(Key key, std::shared_ptr<Flight> flight) {
    const Landing landing{*this, key, *flight};
    const auto asked_at = clock_.now();  // An answer is as old as the question.
    auto answer = co_await ask_(key);
    if (answer) keep(key, *answer, asked_at + options_.ttl);
    flight->answer = answer;
    co_return answer;
  }

  void keep(const Key& key, const Value& value, Clock::Steady until) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= options_.entries_max) {
      drop_expired();
      if (entries_.size() >= options_.entries_max) entries_.clear();
    }
    entries_.insert_or_assign(key, Entry{value, until});
  }

  // With the lock held.
  void drop_expired() {
    const auto now = clock_.now();
    std::erase_if(entries_, [&](const auto& entry) { return entry.second.until <= now; });
  }

  const Clock& clock_;
  const Options options_;
  const Ask ask_;
  mutable std::mutex mutex_;  // Guards entries_ and flights_.
  std::unordered_map<Key, Entry> entries_;
  std::unordered_map<Key, std::shared_ptr<Flight>> flights_;
};

}  // namespace millrace::api
