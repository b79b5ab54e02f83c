// PublicContext: the engine's JobContext behind the public interface.
#pragma once

#include "worker/handler_registry.h"
#include "worker/job_context.h"

#include <millrace/worker.h>

namespace millrace::client {

class PublicContext final : public Context {
 public:
  explicit PublicContext(worker::JobContext& context) : context_(context) {}

  void progress(int percent, std::string message) override;
  void log(LogLevel level, const std::string& message) override;
  bool cancelled() const override;
  void enqueue_with_result(const JobSpec& job) override;
  void run_with_result(std::string sql, std::vector<std::optional<std::string>> params) override;

 private:
  worker::JobContext& context_;
};

// A public handler as the engine calls it.
worker::HandlerRegistry::Function engine_function(HandlerFunction function);

}  // namespace millrace::client
