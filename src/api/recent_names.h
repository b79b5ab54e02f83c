// RecentNames: names that were noted not long ago, as many as there is room for.
//
// When it is full of young names all are forgotten: it is a memory that saves questions, and what
// it forgets is asked again. Threading: any. Lifetime: the clock outlives it.
#pragma once

#include "base/clock.h"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace millrace::api {

class RecentNames {
 public:
  struct Options {
    std::chrono::milliseconds ttl{1000};
    std::size_t names_max = 10'000;
  };

  RecentNames(const Clock& clock, Options options) : clock_(clock), options_(options) {}

  void note(const std::string& name) {
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    if (until_.size() >= options_.names_max && !until_.contains(name)) {
      std::erase_if(until_, [&](const auto& entry) { return entry.second <= now; });
      if (until_.size() >= options_.names_max) until_.clear();
    }
    until_.insert_or_assign(name, now + options_.ttl);
  }

  bool holds(const std::string& name) const {
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    const auto found = until_.find(name);
    return found != until_.end() && now < found->second;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return until_.size();
  }

 private:
  const Clock& clock_;
  const Options options_;
  mutable std::mutex mutex_;  // Guards until_.
  std::unordered_map<std::string, Clock::Steady> until_;
};

}  // namespace millrace::api
