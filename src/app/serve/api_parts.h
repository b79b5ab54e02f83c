// ApiParts: everything behind the HTTP API: stores, identity, metrics, and the pipeline over them.
//
// Flow: made of settings and a database; requests() has the routes for a server. Nothing connects
// before the first request, so the table of operations can also be made without a database.
// Threading: made and stopped by its owner; used by all threads of the server. Lifetime: context
// outlives it, and it outlives the server that has its routes. Call stop() before it goes away.
#pragma once

#include "api/health.h"
#include "api/pipeline.h"
#include "api/routes/meta.h"
#include "app/context.h"
#include "app/database.h"
#include "app/serve/signing_secrets.h"
#include "base/task.h"
#include "http/access_log.h"
#include "store/wake_source.h"

#include <functional>
#include <memory>
#include <vector>

namespace millrace::app {

class ApiParts {
 public:
  struct Options {
    Database database;
    SigningSecrets secrets;
  };

  // `executor` runs what the parts do by themselves: connecting, fetching keys, keeping notes.
  static Result<std::unique_ptr<ApiParts>> make(Context& context, Executor executor,
                                                Options options);
  ~ApiParts();
  ApiParts(const ApiParts&) = delete;
  ApiParts& operator=(const ApiParts&) = delete;

  // Opens the blob store and begins the work in the background.
  Result<void> start();
  awaitable<void> stop();  // Ends it. Safe twice and before start().

  const api::Pipeline& requests() const;
  const api::ApiDocuments& documents() const;
  api::Health& health();
  // Hints of the one session that listens for this process.
  std::unique_ptr<store::WakeSource> wake_source();
  void note_request(const http::AccessRecord& record);
  // Asked before every page of metrics.
  void on_metrics(std::function<std::size_t()> connections);

 private:
  struct Impl;
  explicit ApiParts(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::app
