// HandlerRegistry: which handler runs which job type. Filled at start-up, then only read.
#pragma once

#include "base/result.h"
#include "worker/handler.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::worker {

struct HandlerOptions {
  std::optional<std::chrono::milliseconds> timeout;  // The shorter of this and the policy's counts.
  std::string queue = "default";  // Where the type is registered if it does not exist yet.
};

struct HandlerEntry {
  std::unique_ptr<Handler> handler;
  HandlerOptions options;
};

class HandlerRegistry {
 public:
  // A function that may block: it runs on a thread of its own.
  using Function = std::function<Outcome(const ClaimedJob& job, JobContext& context)>;
  // A coroutine: it runs on a small pool of threads beside the I/O and must not block them.
  using Coroutine = std::function<awaitable<Outcome>(const ClaimedJob& job, JobContext& context)>;

  HandlerRegistry();
  HandlerRegistry(HandlerRegistry&&) noexcept;
  HandlerRegistry& operator=(HandlerRegistry&&) noexcept;
  ~HandlerRegistry();

  // A second handler for one type is a conflict.
  Result<void> add(std::string job_type, std::unique_ptr<Handler> handler,
                   HandlerOptions options = {});
  Result<void> add_function(std::string job_type, Function function, HandlerOptions options = {});
  Result<void> add_coroutine(std::string job_type, Coroutine coroutine,
                             HandlerOptions options = {});

  const HandlerEntry* find(std::string_view job_type) const;  // Null when there is none.
  std::vector<std::string> job_types() const;
  // Types by the queue they belong to.
  std::map<std::string, std::vector<std::string>> job_types_by_queue() const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;  // Made for the first function or coroutine; outlives entries.
  std::map<std::string, HandlerEntry, std::less<>> entries_;
};

}  // namespace millrace::worker
