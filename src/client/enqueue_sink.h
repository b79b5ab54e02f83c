// EnqueueSink: where a Delivery sends a batch of jobs: one connection, one call at a time.
//
// Errors are the store's: `unavailable` when the batch certainly did nothing, `in_doubt` when it
// may have been committed; in every other case all of it was refused and nothing is left of it.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "store/admin_store.h"

#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace millrace::client {

// What jobs have in common that travel together. Plain jobs say nothing of themselves but type,
// queue, priority and payload; all others are one kind, with nothing else set.
struct JobKind {
  bool plain = false;
  std::string job_type = {};
  std::string queue = {};
  std::optional<int> priority = {};

  friend auto operator<=>(const JobKind&, const JobKind&) = default;
};

class EnqueueSink {
 public:
  using Answers = millrace::Result<std::vector<store::EnqueueAnswer>>;

  virtual ~EnqueueSink() = default;
  // All or none, in one transaction; an answer per job, in order.
  virtual Answers enqueue_array(const JobKind& kind, const std::vector<std::string>& payloads) = 0;
  virtual Answers enqueue_jobs(const json::Array& jobs) = 0;
  // Waits before the next try, for about this long.
  virtual void pause(std::chrono::milliseconds time) = 0;
};

}  // namespace millrace::client
