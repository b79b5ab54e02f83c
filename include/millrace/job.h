// What a producer says of a job, what a handler is given, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::client {

// A job to enqueue. Only job_type and payload are required; empty strings and empty optionals mean
// the default of the job type or queue.
struct JobSpec {
  std::string job_type;
  std::string payload;  // A JSON object, not empty, at most 256 KiB.
  std::string queue = {};
  std::string job_name = {};
  std::optional<int> priority = {};  // 0 to 1000, higher first.
  std::optional<std::chrono::milliseconds> delay = {};
  std::string dedupe_key = {};       // At most one live job per tenant, type and key.
  std::string serial_key = {};       // One at a time, in the order of enqueue.
  std::string concurrency_key = {};  // At most the queue's key_concurrency_max at once.
  std::string idempotency_key = {};  // Makes the call repeatable for a day.
  std::string id = {};               // A uuid of your own, best of version 7; makes it repeatable.
  std::string correlation_id = {};
  std::string batch_id = {};
  std::vector<std::string> after_jobs = {};  // Starts when all of these have completed.
  std::optional<int> max_attempts = {};
  std::optional<std::chrono::milliseconds> run_timeout = {};
};

struct Enqueued {
  std::string job_id;
  bool created = true;  // False: the job that has the dedupe or idempotency key already.
};

// One delivery of a job to a handler.
struct Job {
  std::string id;
  std::string job_type;
  std::string queue;
  std::string payload;  // JSON
  std::string tenant_id;
  std::string correlation_id;
  std::string
      carry;        // JSON: what an earlier attempt reported as done (Outcome::partial), or empty.
  int attempt = 1;  // Counts from 1; only attempts charged to the retry budget.
  int max_attempts = 1;
  int delivery_count = 1;  // Every hand-out.
  // Of this delivery alone. Give it to outside systems that can refuse a late writer.
  std::string lease_token;
};

// What the handler made of it. The engine decides what that means for schedule and budget.
struct Outcome {
  enum class Kind { ok, retry, throttled, blocked, permanent, partial, cancelled };

  Kind kind = Kind::ok;
  std::string result = {};      // JSON of ok; empty means null.
  std::string error_type = {};  // A short word, for grouping.
  std::string message = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::string provider = {};  // Of blocked.
  std::string parts = {};     // JSON of partial: what is done already.
  std::optional<std::int64_t> actual_tokens = {};

  static Outcome ok(std::string result_json = {}) { return {.result = std::move(result_json)}; }
  static Outcome retry(std::string error_type, std::string message,
                       std::optional<std::chrono::milliseconds> after = {}) {
    return {.kind = Kind::retry,
            .error_type = std::move(error_type),
            .message = std::move(message),
            .retry_after = after};
  }
  static Outcome throttled(std::string message,
                           std::optional<std::chrono::milliseconds> after = {}) {
    return {.kind = Kind::throttled, .message = std::move(message), .retry_after = after};
  }
  static Outcome blocked(std::string provider, std::string message) {
    return {.kind = Kind::blocked, .message = std::move(message), .provider = std::move(provider)};
  }
  static Outcome permanent(std::string error_type, std::string message) {
    return {.kind = Kind::permanent,
            .error_type = std::move(error_type),
            .message = std::move(message)};
  }
  static Outcome partial(std::string parts_json, std::string message) {
    return {.kind = Kind::partial, .message = std::move(message), .parts = std::move(parts_json)};
  }
  static Outcome cancelled(std::string reason) {
    return {.kind = Kind::cancelled, .message = std::move(reason)};
  }
};

}  // namespace millrace::client
