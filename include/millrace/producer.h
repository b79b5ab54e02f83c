// Producer: enqueues jobs and asks after them, over one connection, blocking.
//
// To enqueue in a transaction of your own, together with your own rows, use the free functions on
// your libpq connection: the job exists if and only if your transaction commits.
#pragma once

#include <millrace/error.h>
#include <millrace/job.h>

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

}  // namespace millrace::client
