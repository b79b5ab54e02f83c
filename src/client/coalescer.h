// Coalescer: many calls of one job each in, few transactions of many jobs out.
//
// A call that finds nothing under way for its kind of job is sent at once; those that arrive
// meanwhile share the next transaction. One thread per sink, asleep while there is nothing to send.
// submit() and flush() from any thread. The destructor waits until every accepted call is answered.
#pragma once

#include "client/call_queue.h"
#include "client/delivery.h"
#include "client/enqueue_sink.h"

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace millrace::client {

struct CoalescerOptions {
  CallQueueOptions queue = {};  // Workers: as many as there are sinks.
  std::chrono::milliseconds retry_for{30'000};
};

class Coalescer {
 public:
  // `clock` outlives the coalescer.
  Coalescer(CoalescerOptions options, const Clock& clock,
            std::vector<std::unique_ptr<EnqueueSink>> sinks);
  ~Coalescer();
  Coalescer(const Coalescer&) = delete;
  Coalescer& operator=(const Coalescer&) = delete;

  // Throws what std::thread throws when the system gives no more threads.
  void start();
  std::future<CallAnswer> submit(MadeCall call, CallQueue::WhenFull when_full) {
    return queue_.submit(std::move(call), when_full);
  }
  void flush() { queue_.flush(); }

 private:
  void work(std::size_t worker);

  std::vector<std::unique_ptr<EnqueueSink>> sinks_;
  CallQueue queue_;
  Outage outage_;
  DeliveryContext context_;
  std::vector<std::thread> threads_;
};

}  // namespace millrace::client
