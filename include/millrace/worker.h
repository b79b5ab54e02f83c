// Worker: runs handlers inside your own program.
//
//   millrace::client::Worker worker({.database_url = url, .slots = 8});
//   worker.handle("resize_image", [](const Job& job, Context& context) { ...; return Outcome::ok();
//   }); worker.run();   // Until stop() is called, from another thread or a signal handler's
//   thread.
//
// Handlers run on threads of the worker, at most `slots` at once. An exception is a retry.
#pragma once

#include <millrace/error.h>
#include <millrace/job.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::client {

enum class LogLevel { debug, info, warn, error };

// What a handler may do besides answering. Usable from any thread while the handler runs.
class Context {
 public:
  virtual ~Context() = default;
  virtual void progress(int percent, std::string message = {}) = 0;
  virtual void log(LogLevel level, const std::string& message) = 0;
  // The job was cancelled, its time is up, its lease is lost, or the worker is stopping: return
  // soon.
  virtual bool cancelled() const = 0;
  // The following happen only if the outcome is ok or partial, in the transaction that records it.
  virtual void enqueue_with_result(const JobSpec& job) = 0;
  virtual void run_with_result(std::string sql,
                               std::vector<std::optional<std::string>> params = {}) = 0;
};

using HandlerFunction = std::function<Outcome(const Job&, Context&)>;

struct WorkerOptions {
  std::string database_url;
  std::vector<std::string> queues = {"default"};
  int slots = 4;
  std::chrono::milliseconds lease{30'000};
  std::chrono::milliseconds drain_timeout{30'000};
  bool keeper = true;  // Also stand for election as the keeper.
};

class Worker {
 public:
  explicit Worker(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Registers the type in `queue` if nobody has yet. Before run().
  void handle(const std::string& job_type, HandlerFunction function,
              const std::string& queue = "default");

  // Blocks until stop(); then lets running jobs finish within drain_timeout and gives back the rest
  // without charge.
  Result<void> run();
  void stop();  // Thread-safe, safe twice, safe before run().

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::client
