// Engine: a worker runtime and a keeper on an io_context of their own, for embedding.
//
// run() occupies the calling thread until drain() (any thread, safe twice) and its end.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "worker/handler_registry.h"
#include "worker/options.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace millrace::worker {
class Runtime;
}

namespace millrace::client {

struct EngineOptions {
  std::string database_url;
  worker::Options worker;
  bool keeper = true;
};

class Engine {
 public:
  Engine(EngineOptions options, Logger log);
  ~Engine();

  millrace::Result<void> run(worker::HandlerRegistry handlers);
  void drain();

 private:
  EngineOptions options_;
  SystemClock clock_;
  SystemRandom random_;
  Logger log_;
  std::mutex mutex_;  // Guards runtime_ and draining_.
  worker::Runtime* runtime_ = nullptr;
  bool draining_ = false;
};

}  // namespace millrace::client
