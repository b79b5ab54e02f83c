// Engine: keeper and worker of this process, on a thread of their own.
//
// Flow: start() connects the pools, builds the handlers and runs Keeper and Runtime on one
// io_context thread; the caller's thread stays free to watch signals and draw. drain() finishes the
// worker, then the keeper; kill() leaves at once. Threading: all members from the owning thread.
// Lifetime: context outlives it; join() or the destructor waits for the thread.
#pragma once

#include "app/context.h"
#include "app/database.h"
#include "base/task.h"
#include "http/client.h"
#include "pg/pool.h"
#include "store/wake_source.h"
#include "worker/handler_registry.h"
#include "worker/options.h"
#include "worker/runtime.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millrace::app {

// What handlers may use; all of it outlives them.
struct HandlerParts {
  http::Client& client;
  pg::Pool& pool;     // Of the worker, with the rights of one.
  Executor executor;  // The engine's own thread.
};

struct EngineOptions {
  Database database;
  std::string listen_url;  // For LISTEN; empty: the database's own.
  // Where the process listens already; outlives the engine. Nothing: a session of the worker's own.
  store::WakeSource* wake = nullptr;
  bool run_keeper = true;
  bool run_worker = true;
  worker::Options worker;
  // Builds the handlers; called once on the engine's thread.
  std::function<Result<worker::HandlerRegistry>(const HandlerParts& parts)> handlers;
};

class Engine {
 public:
  Engine(Context& context, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void start();
  void drain();
  void kill();
  bool finished() const;
  bool draining() const;  // It was told to end.
  // True once the worker is registered (or at once without a worker).
  bool ready() const;
  // Until it is ready; false when it ended or `timeout` passed first.
  bool wait_ready(std::chrono::milliseconds timeout) const;
  std::string worker_id() const;
  // Waits for the end; the worker's error if it could not start.
  Result<worker::RunReport> join();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The worker's options as the settings have them.
worker::Options worker_options(const Context& context);

}  // namespace millrace::app
