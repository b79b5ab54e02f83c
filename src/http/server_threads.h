// ServerThreads: a number of threads, each running its own io_context.
//
// What one executor runs is run by one thread, so state that belongs to it needs no lock, and a
// request never changes threads. Lifetime: stop() ends the threads at once, whatever still waits;
// stop the server first.
#pragma once

#include "base/task.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace millrace::http {

class ServerThreads {
 public:
  explicit ServerThreads(std::size_t count);
  ~ServerThreads();  // Stops.
  ServerThreads(const ServerThreads&) = delete;
  ServerThreads& operator=(const ServerThreads&) = delete;

  std::vector<Executor> executors() const;
  void stop();

 private:
  struct OneThread;
  std::vector<std::unique_ptr<OneThread>> threads_;
};

}  // namespace millrace::http
