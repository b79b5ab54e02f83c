#include "client/coalescer.h"

#include <fmt/format.h>

#include <csignal>
#include <pthread.h>
#include <utility>

namespace millrace::client {
namespace {

CallQueueOptions with_workers(CallQueueOptions options, std::size_t workers) {
  options.workers = workers;
  return options;
}

// Threads that start meanwhile take no signals: those are for the threads of the program.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Coalescer::Coalescer(CoalescerOptions options, const Clock& clock,
                     std::vector<std::unique_ptr<EnqueueSink>> sinks)
    : sinks_(std::move(sinks)),
      queue_(with_workers(options.queue, sinks_.size()), clock),
      context_{queue_, clock, outage_, options.retry_for} {}

Coalescer::~Coalescer() {
  queue_.close();
  for (auto& thread : threads_) thread.join();
}

void Coalescer::start() {
  const SignalsBlocked blocked;
  threads_.reserve(sinks_.size());
  for (std::size_t worker = 0; worker < sinks_.size(); ++worker) {
    auto& thread = threads_.emplace_back([this, worker] { work(worker); });
    ::pthread_setname_np(thread.native_handle(), fmt::format("mr-producer-{}", worker).c_str());
  }
}

void Coalescer::work(std::size_t worker) {
  while (auto batch = queue_.take(worker)) {
    try {
      Delivery(context_, *sinks_[worker], *batch).run();
    } catch (...) {
      // Memory was short. What was dropped on the way is answered; what was not goes the same way.
      batch->calls.clear();
      if (batch->open > 0) queue_.settle(*batch);
    }
    queue_.leave(worker);
  }
}

}  // namespace millrace::client
