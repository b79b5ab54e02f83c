#include "pipeline/memory_budget.h"

#include "base/either.h"
#include "base/free_memory.h"

#include <algorithm>

namespace millrace::pipeline {
namespace {

// What was as large as this leaves holes in the heap that the allocator keeps.
constexpr std::uint64_t kTidyFrom = std::uint64_t{4} * 1024 * 1024;

}  // namespace

// A place in the queue, left when the wait ends in whatever way.
struct MemoryBudget::Place {
  MemoryBudget& budget;
  std::shared_ptr<Waiter> waiter;

  ~Place() {
    const std::lock_guard lock(budget.mutex_);
    if (waiter == nullptr) return;
    if (waiter->granted) {
      budget.taken_ -= waiter->bytes;
    } else {
      std::erase(budget.waiting_, waiter);
    }
    budget.grant();  // Those behind it may have waited for this one only.
  }
};

Task<MemoryBudget::Share> MemoryBudget::take(std::uint64_t bytes, CancelToken cancel) {
  using namespace either;
  bytes = std::min(bytes, bytes_);
  const auto waiter = std::make_shared<Waiter>(Waiter{.bytes = bytes});
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(waiter);
    grant();
  }
  Place place{.budget = *this, .waiter = waiter};
  if (!waiter->woken.is_set()) co_await (waiter->woken.wait() || cancel.wait());
  const std::lock_guard lock(mutex_);
  if (waiter->granted) {
    place.waiter = nullptr;
    co_return Share(*this, bytes);
  }
  co_return fail(ErrorKind::cancelled, cancel.reason());
}

MemoryBudget::State MemoryBudget::state() const {
  const std::lock_guard lock(mutex_);
  return {.taken_bytes = taken_, .waiting = waiting_.size()};
}

void MemoryBudget::give_back(std::uint64_t bytes) {
  // Before the next one begins: it counts on the room.
  if (bytes >= kTidyFrom) return_free_memory();
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
  grant();
}

void MemoryBudget::grant() {
  while (!waiting_.empty() && waiting_.front()->bytes <= bytes_ - taken_) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    taken_ += next->bytes;
    next->granted = true;
    next->woken.set();
  }
}

}  // namespace millrace::pipeline
