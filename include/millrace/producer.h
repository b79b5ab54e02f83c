// Producer: enqueues jobs and asks after them, over one connection, blocking.
// SharedProducer: one for all threads of a program, fast when many enqueue one job each.
//
// To enqueue in a transaction of your own, together with your own rows, use the free functions on
// your libpq connection: the job exists if and only if your transaction commits.
#pragma once

#include <millrace/error.h>
#include <millrace/job.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <vector>

struct pg_conn;  // PGconn of libpq.

namespace millrace::client {

// In the transaction that is open on `connection`, or on its own if none is.
Result<Enqueued> enqueue(pg_conn* connection, const JobSpec& job);
// All or none; the answers are in the order of the jobs.
Result<std::vector<Enqueued>> enqueue(pg_conn* connection, const std::vector<JobSpec>& jobs);

class Producer {
 public:
  static Result<Producer> connect(const std::string& database_url);

  Producer(Producer&&) noexcept;
  Producer& operator=(Producer&&) noexcept;
  ~Producer();

  Result<Enqueued> enqueue(const JobSpec& job);
  Result<std::vector<Enqueued>> enqueue(const std::vector<JobSpec>& jobs);
  // Everything known of a job, as JSON (status, attempts, result, error, progress).
  Result<std::string> job(const std::string& job_id);
  // "cancelled" at once, "cancel_requested" for a running job; conflict when it has ended.
  Result<std::string> cancel(const std::string& job_id, const std::string& reason = {});

 private:
  struct Impl;
  explicit Producer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct SharedProducerOptions {
  int connections = 2;
  int batch_max = 1000;       // Jobs in a transaction.
  int pending_max = 100'000;  // Calls that are accepted and not yet answered,
  std::size_t pending_bytes_max = 256 * 1024 * 1024;  // and the size of their jobs together.
  // How long a call is tried again while the database cannot be reached, counted from the beginning
  // of the outage, or from the call if that came later.
  std::chrono::milliseconds retry_for{30'000};
};

// SharedProducer: each call enqueues one job and is answered when the job is durable; calls that
// arrive while a transaction is under way share the next one. A call that finds nothing under way
// is sent at once. All members may be called from any number of threads.
//
// Order: calls of one thread for plain jobs (nothing set but type, payload, queue and priority) are
// in line in the order in which they were made, for each combination of type, queue and priority;
// so are its other calls among themselves. Between these lines, and between threads, a call is
// behind another for certain only if it was made after the other was answered.
//
// Errors: a job that the database refuses fails its own call only, with the error that it would
// have got alone. While the database cannot be reached, calls are tried again for retry_for, then
// they are `unavailable`: not enqueued. `in_doubt`: the connection was lost after the job was sent.
// Jobs with an id, an idempotency_key or a dedupe_key are then sent again instead, which cannot
// make a second job; Enqueued::created may be false although it was the first sending that created
// it.
class SharedProducer {
 public:
  // Opens one connection to see that it can; threads and further connections come with it.
  static Result<SharedProducer> connect(const std::string& database_url,
                                        const SharedProducerOptions& options = {});

  // Moving and destroying are for one thread, while no call is under way in another.
  SharedProducer(SharedProducer&&) noexcept;
  SharedProducer& operator=(SharedProducer&&) noexcept;
  // Waits until everything that was accepted is answered: a moment, or up to retry_for and the time
  // of a connection attempt when the database is away. Not at the end of a process that uses
  // std::quick_exit or _exit: what has no answer then may be lost. In a process forked since
  // connect() it does nothing, and calls are refused: a child connects for itself.
  ~SharedProducer();

  // Blocks until the job is durable. With pending_max calls waiting it waits for room first.
  Result<Enqueued> enqueue(const JobSpec& job);
  // Does not block; with pending_max calls waiting the answer is `throttled` at once. The future
  // may be dropped. Throws only std::bad_alloc, when there is no memory for the future itself.
  std::future<Result<Enqueued>> enqueue_async(JobSpec job);
  // Waits until everything that was accepted before is answered.
  void flush();

 private:
  struct Impl;
  struct Close {
    void operator()(Impl* impl) const noexcept;
  };
  explicit SharedProducer(std::unique_ptr<Impl, Close> impl);
  Result<void> usable() const;
  std::future<Result<Enqueued>> submit(JobSpec job, bool wait);

  std::unique_ptr<Impl, Close> impl_;
};

}  // namespace millrace::client
