#include "http/server_threads.h"

#include "base/assert.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

namespace millrace::http {

namespace asio = boost::asio;

struct ServerThreads::OneThread {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::jthread thread{[this] { io.run(); }};
};

ServerThreads::ServerThreads(std::size_t count) {
  MR_ASSERT(count > 0);
  for (std::size_t i = 0; i < count; ++i) threads_.push_back(std::make_unique<OneThread>());
}

ServerThreads::~ServerThreads() { stop(); }

std::vector<Executor> ServerThreads::executors() const {
  std::vector<Executor> result;
  for (const auto& thread : threads_) result.emplace_back(thread->io.get_executor());
  return result;
}

void ServerThreads::stop() {
  for (const auto& thread : threads_) {
    thread->io.stop();
    if (thread->thread.joinable()) thread->thread.join();
  }
}

}  // namespace millrace::http
