#include "worker/run_pool.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace millrace::worker {

namespace {

constexpr std::size_t kUnusedMax = 8'192;

}  // namespace

RunPool::Run RunPool::take() {
  if (unused_.empty()) return make_();
  auto run = std::move(unused_.back());
  unused_.pop_back();
  spare_ = std::min(spare_, unused_.size());
  return run;
}

void RunPool::keep(Run run) {
  if (run.use_count() != 1 || unused_.size() >= kUnusedMax) return;
  std::atomic_thread_fence(std::memory_order_acquire);  // Whoever knew it was another thread.
  if (!run->reusable()) return;
  run->forget_texts();
  unused_.push_back(std::move(run));
}

std::size_t RunPool::give_back() {
  const auto count = (spare_ + 1) / 2;
  unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(count));
  spare_ = unused_.size();
  return count;
}

}  // namespace millrace::worker
