// Helpers for tests of handlers: a throw-away PostgreSQL with the schema installed, and one job run
// through the real engine in this process.
//
//   auto database = TestDatabase::create();
//   auto ran = run_one(*database, {.job_type = "greet", .payload = R"({"name": "Ada"})"}, greet);
//   EXPECT_EQ(ran->status, "completed");
//
// Needs the PostgreSQL server programs (Debian: postgresql-15). The database is gone with the
// object.
#pragma once

#include <millrace/error.h>
#include <millrace/job.h>
#include <millrace/worker.h>

#include <memory>
#include <string>

namespace millrace::client {

class TestDatabase {
 public:
  static Result<TestDatabase> create();
  TestDatabase(TestDatabase&&) noexcept;
  TestDatabase& operator=(TestDatabase&&) noexcept;
  ~TestDatabase();

  const std::string& url() const;

 private:
  struct Impl;
  explicit TestDatabase(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct RanJob {
  std::string job_id;
  std::string status;  // completed, failed, cancelled, retrying, ...
  std::string result;  // JSON, of completed.
  std::string error;   // JSON, of the last attempt that failed.
  std::string json;    // Everything known of the job.
};

// Enqueues the job, runs `handler` for exactly one delivery of it, settles the outcome, and answers
// what became of the job.
Result<RanJob> run_one(const TestDatabase& database, const JobSpec& job, HandlerFunction handler);

}  // namespace millrace::client
