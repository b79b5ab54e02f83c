#include "worker/blocking_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace millrace::worker {

struct BlockingPool::State {
  std::mutex mutex;  // Guards all below.
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  std::size_t threads = 0;
  std::size_t busy = 0;
  bool stopping = false;
};

BlockingPool::BlockingPool() : state_(std::make_shared<State>()) {}

BlockingPool::~BlockingPool() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->threads == state_->busy; });
}

void BlockingPool::submit(std::function<void()> task) {
  const std::lock_guard lock(state_->mutex);
  state_->tasks.push_back(std::move(task));
  const auto idle = state_->threads - state_->busy;
  if (idle >= state_->tasks.size()) {
    state_->changed.notify_one();
    return;
  }
  ++state_->threads;
  try {
    std::thread(work, state_).detach();
  } catch (...) {
    // No memory, or as many threads as the system allows. The caller is told that it was refused:
    // then it must not run later either.
    --state_->threads;
    state_->tasks.pop_back();
    throw;
  }
}

std::size_t BlockingPool::threads() const {
  const std::lock_guard lock(state_->mutex);
  return state_->threads;
}

void BlockingPool::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return !state->tasks.empty() || state->stopping; });
    if (state->tasks.empty()) break;
    auto task = std::move(state->tasks.front());
    state->tasks.pop_front();
    ++state->busy;
    lock.unlock();
    task();
    task = nullptr;  // What it holds goes before this thread counts as idle.
    lock.lock();
    --state->busy;
  }
  --state->threads;
  state->changed.notify_all();
}

}  // namespace millrace::worker
