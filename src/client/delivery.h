// Delivery: brings one batch of calls to the database, until every one of them has its answer.
//
// What the sink says decides:
//   done              each call gets the id of its job
//   refused           halves are tried one after the other, down to the job that is refused: it
//   fails
//                     as it would have by itself, and the others are not harmed
//   certainly nothing the same again, after a pause, for as long as the call has time
//   in doubt          only calls that find their own job again are repeated; the others say so
// The order of the calls is kept throughout. Threading: one thread, that of its worker.
#pragma once

#include "client/call_queue.h"
#include "client/enqueue_sink.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::client {

// Since when nothing gets through; one for all workers. A call that was accepted before is given
// its time from then on, so that an outage does not find calls whose time is up already.
class Outage {
 public:
  Clock::Steady began(Clock::Steady now);  // At a failure.
  void over();                             // At a success.

 private:
  std::mutex mutex_;  // Guards since_.
  std::optional<Clock::Steady> since_;
};

struct DeliveryContext {
  CallQueue& queue;
  const Clock& clock;
  Outage& outage;
  std::chrono::milliseconds retry_for;
};

class Delivery {
 public:
  Delivery(const DeliveryContext& context, EnqueueSink& sink, CallQueue::Batch& batch)
      : context_(context), sink_(sink), batch_(batch) {}

  // May throw when memory is short; calls that are dropped by that are answered as in doubt.
  void run();

 private:
  void deliver(Calls& calls);
  EnqueueSink::Answers send(const Calls& calls);
  void succeed(Calls& calls, const std::vector<store::EnqueueAnswer>& answers);
  void refuse(Calls& calls, const millrace::Error& error);
  void split(Calls& calls, const millrace::Error& error);
  // False: no call is left.
  bool wait_to_repeat(Calls& calls, const millrace::Error& error, int tries);
  bool keep_repeatable(Calls& calls, const millrace::Error& error);
  void fail(Calls& calls, const millrace::Error& error);

  const DeliveryContext& context_;
  EnqueueSink& sink_;
  CallQueue::Batch& batch_;
  std::optional<millrace::Error> verdict_;  // What every other job of this kind would be told too.
};

}  // namespace millrace::client
