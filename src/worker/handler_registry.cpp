#include "worker/handler_registry.h"

#include "worker/blocking_pool.h"
#include "worker/handlers/function_handler.h"

#include <boost/asio/thread_pool.hpp>

#include <utility>

namespace millrace::worker {

namespace {

constexpr std::size_t kCoroutineThreads = 2;

}  // namespace

struct HandlerRegistry::Threads {
  BlockingPool blocking;
  boost::asio::thread_pool coroutines{kCoroutineThreads};
};

HandlerRegistry::HandlerRegistry() = default;
HandlerRegistry::HandlerRegistry(HandlerRegistry&&) noexcept = default;
HandlerRegistry& HandlerRegistry::operator=(HandlerRegistry&&) noexcept = default;
HandlerRegistry::~HandlerRegistry() { entries_.clear(); }

Result<void> HandlerRegistry::add(std::string job_type, std::unique_ptr<Handler> handler,
                                  HandlerOptions options) {
  if (job_type.empty()) {
    return fail(ErrorKind::invalid_argument, "a handler needs the name of a job type");
  }
  if (entries_.contains(job_type)) {
    return fail(ErrorKind::conflict, "job type '" + job_type + "' has two handlers");
  }
  entries_.emplace(std::move(job_type),
                   HandlerEntry{.handler = std::move(handler), .options = std::move(options)});
  return ok();
}

Result<void> HandlerRegistry::add_function(std::string job_type, Function function,
                                           HandlerOptions options) {
  if (!threads_) threads_ = std::make_unique<Threads>();
  return add(std::move(job_type),
             std::make_unique<FunctionHandler>(std::move(function), threads_->blocking),
             std::move(options));
}

Result<void> HandlerRegistry::add_coroutine(std::string job_type, Coroutine coroutine,
                                            HandlerOptions options) {
  if (!threads_) threads_ = std::make_unique<Threads>();
  return add(std::move(job_type),
             std::make_unique<CoroutineHandler>(std::move(coroutine), threads_->coroutines),
             std::move(options));
}

const HandlerEntry* HandlerRegistry::find(std::string_view job_type) const {
  const auto found = entries_.find(job_type);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string> HandlerRegistry::job_types() const {
  std::vector<std::string> types;
  for (const auto& [job_type, entry] : entries_) types.push_back(job_type);
  return types;
}

std::map<std::string, std::vector<std::string>> HandlerRegistry::job_types_by_queue() const {
  std::map<std::string, std::vector<std::string>> result;
  for (const auto& [job_type, entry] : entries_) result[entry.options.queue].push_back(job_type);
  return result;
}

}  // namespace millrace::worker
