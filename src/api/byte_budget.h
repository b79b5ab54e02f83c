// ByteBudget: how many bytes may be in memory for one purpose at once, for the whole process.
//
// Flow: whoever is about to hold bytes lets its Share grow first; what does not fit is refused, not
// waited for. A share gives back what it has when it goes. Threading: any. Lifetime: the budget
// outlives its shares.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::api {

class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t bytes_max) : left_(bytes_max) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  class Share {
   public:
    Share() = default;
    ~Share() {
      if (budget_ != nullptr) budget_->left_.fetch_add(bytes_, std::memory_order_relaxed);
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False: there is not so much left, and nothing was taken. Always of the same budget.
    bool grow(ByteBudget& budget, std::uint64_t bytes) {
      auto left = budget.left_.load(std::memory_order_relaxed);
      do {
        if (left < bytes) return false;
      } while (!budget.left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
      budget_ = &budget;
      bytes_ += bytes;
      return true;
    }

   private:
    ByteBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

 private:
  std::atomic<std::uint64_t> left_;
};

}  // namespace millrace::api
