#include "pipeline/children.h"

#include <utility>

namespace millrace::pipeline {

Children::Children(Executor executor, sandbox::PoolSpec spec)
    : executor_(std::move(executor)), spec_(std::move(spec)) {}

Children::~Children() = default;

Result<sandbox::TaskPool*> Children::pool() {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr) {
    MR_TRY(pool_, sandbox::TaskPool::start(executor_, spec_));
  }
  return pool_.get();
}

Task<sandbox::TaskResult> Children::run(sandbox::TaskSpec task, CancelToken cancel) {
  MR_CO_TRY(auto* started, pool());
  co_return co_await started->run(std::move(task), std::move(cancel));
}

sandbox::TaskPool::State Children::state() const {
  const std::lock_guard lock(mutex_);
  return pool_ == nullptr ? sandbox::TaskPool::State() : pool_->state();
}

}  // namespace millrace::pipeline
