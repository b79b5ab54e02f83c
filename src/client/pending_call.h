// PendingCall: one enqueue call from its acceptance to its answer.
//
// Made on the caller's thread, where a payload that is no JSON is refused already; then it lies in
// a CallQueue, travels in a Delivery, and ends with its Reply.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "client/enqueue_sink.h"

#include <millrace/error.h>
#include <millrace/job.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <list>
#include <optional>
#include <string>

namespace millrace::client {

using CallAnswer = Result<Enqueued>;

// The answering end of a call's future. Whatever happens there is an answer: one that is dropped
// says that the fate of the job is not known.
class Reply {
 public:
  Reply() = default;
  Reply(Reply&& other) noexcept;
  Reply& operator=(Reply&&) = delete;
  ~Reply();

  std::future<CallAnswer> future() { return promise_.get_future(); }
  void set(CallAnswer answer) noexcept;

 private:
  std::promise<CallAnswer> promise_;
  bool open_ = true;
};

struct PendingCall {
  std::string payload = {};  // Of a plain job, as the caller gave it.
  json::Object spec = {};    // Of any other, as millrace.enqueue_jobs takes it.
  std::size_t size_bytes = 0;
  bool repeatable = false;           // A second sending finds what the first one made.
  std::optional<JobId> own_id = {};  // Given by us, so that it is repeatable.
  bool in_doubt = false;             // It was sent before, and that may have been committed.
  std::uint64_t number = 0;          // In the order of acceptance.
  Clock::Steady accepted_at = {};
  Reply reply = {};
};

using Calls = std::list<PendingCall>;  // Spliced from place to place: nothing on the way can fail.

// Where a call waits: calls with equal keys keep their order, others pass each other.
struct LineKey {
  JobKind kind;
  unsigned share = 0;  // Callers are divided into shares, which need not wait for each other.

  friend auto operator<=>(const LineKey&, const LineKey&) = default;
};

struct MadeCall {
  LineKey key;
  PendingCall call;
};

// Refuses a payload that is no JSON.
Result<MadeCall> make_call(JobSpec job, const Clock& clock, Random& random);

}  // namespace millrace::client
