// MemoryBudget: how many bytes the jobs of this process may hold of pages at once.
//
// Flow: a job takes a share before it reads or parses anything large, and gives it back when that
// is gone. Shares are given in the order they were asked for, so that a large one is not passed by
// for ever; one that asks for more than there is gets all of it, and is alone. A job has one share
// at a time: whoever waited for a second one would wait for itself.
// Threading: any. Lifetime: outlives its shares.
#pragma once

#include "base/cancel.h"
#include "base/event.h"
#include "base/task.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace millrace::pipeline {

// With what the process is without documents, about 60 MB, and what the allocator holds between,
// well below 150 MB.
inline constexpr std::uint64_t kPageMemoryBytes = std::uint64_t{48} * 1024 * 1024;

class MemoryBudget {
 public:
  // What was taken, until it is gone. An empty one holds nothing.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) budget_->give_back(bytes_);
    }
    std::uint64_t bytes() const { return budget_ == nullptr ? 0 : bytes_; }

   private:
    friend class MemoryBudget;
    Share(MemoryBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}

    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  explicit MemoryBudget(std::uint64_t bytes) : bytes_(bytes) {}

  // Waits for its turn; `cancelled` when the token is first.
  Task<Share> take(std::uint64_t bytes, CancelToken cancel);

  struct State {
    std::uint64_t taken_bytes = 0;
    std::size_t waiting = 0;
  };
  State state() const;

 private:
  struct Waiter {
    std::uint64_t bytes = 0;
    Event woken = {};
    bool granted = false;
  };
  struct Place;

  void give_back(std::uint64_t bytes);
  void grant();  // Under mutex_.

  const std::uint64_t bytes_;
  mutable std::mutex mutex_;  // Guards all below; never held while waiting.
  std::uint64_t taken_ = 0;
  std::deque<std::shared_ptr<Waiter>> waiting_;  // Shared with those that wait.
};

}  // namespace millrace::pipeline
