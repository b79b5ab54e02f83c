#include "client/convert.h"
#include "client/engine.h"
#include "client/public_context.h"

#include <millrace/worker.h>

#include <stdexcept>
#include <utility>

namespace millrace::client {
namespace {

millrace::LogLevel to_engine(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return millrace::LogLevel::debug;
    case LogLevel::info:
      return millrace::LogLevel::info;
    case LogLevel::warn:
      return millrace::LogLevel::warn;
    case LogLevel::error:
      return millrace::LogLevel::error;
  }
  std::unreachable();
}

EngineOptions engine_options(const WorkerOptions& options) {
  EngineOptions made{.database_url = options.database_url, .worker = {}, .keeper = options.keeper};
  made.worker.worker_id_prefix = "embedded";
  made.worker.slots = options.slots;
  made.worker.lease = options.lease;
  made.worker.drain_timeout = options.drain_timeout;
  made.worker.queues.clear();
  for (const auto& queue : options.queues) made.worker.queues.push_back({.name = queue});
  return made;
}

}  // namespace

void PublicContext::progress(int percent, std::string message) {
  context_.progress(percent, std::move(message));
}

void PublicContext::log(LogLevel level, const std::string& message) {
  context_.log(to_engine(level), message);
}

bool PublicContext::cancelled() const { return context_.cancelled(); }

void PublicContext::enqueue_with_result(const JobSpec& job) {
  auto spec = spec_to_json(job);
  // A bug of the handler: the exception makes this attempt a retry with this message.
  if (!spec) throw std::invalid_argument(spec.error().message);
  context_.add_effect_job(std::move(*spec));
}

void PublicContext::run_with_result(std::string sql,
                                    std::vector<std::optional<std::string>> params) {
  context_.in_settlement({{.sql = std::move(sql), .params = std::move(params)}});
}

worker::HandlerRegistry::Function engine_function(HandlerFunction function) {
  return [function = std::move(function)](const ClaimedJob& job, worker::JobContext& context) {
    PublicContext shown(context);
    return to_engine(function(to_public(job), shown));
  };
}

struct Worker::Impl {
  Impl(const WorkerOptions& options)
      : clock(), engine(engine_options(options), Logger::to_stderr(clock)) {}

  SystemClock clock;
  Engine engine;
  worker::HandlerRegistry handlers;
  std::optional<Error> refused;  // The first handler that could not be added.
};

Worker::Worker(WorkerOptions options) : impl_(std::make_unique<Impl>(options)) {}
Worker::~Worker() = default;

void Worker::handle(const std::string& job_type, HandlerFunction function,
                    const std::string& queue) {
  const auto added = impl_->handlers.add_function(job_type, engine_function(std::move(function)),
                                                  {.timeout = std::nullopt, .queue = queue});
  if (!added && !impl_->refused) impl_->refused = client::to_public(added.error());
}

Result<void> Worker::run() {
  if (impl_->refused) return std::unexpected(*impl_->refused);
  const auto ran = impl_->engine.run(std::move(impl_->handlers));
  if (!ran) return fail_public(ran.error());
  return {};
}

void Worker::stop() { impl_->engine.drain(); }

}  // namespace millrace::client
