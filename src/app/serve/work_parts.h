// WorkParts: what the API server has for compute jobs and for remote workers.
//
// Flow: made with the other parts of the API; operations() go into their table; start() looks after
// the contracts, run() wakes long polls until stop(). Threading: made and stopped by its owner,
// used by all threads of the server. Lifetime: what Needs names outlives it.
#pragma once

#include "api/operation.h"
#include "app/context.h"
#include "base/task.h"
#include "blob/blob_store.h"
#include "identity/ticket.h"
#include "store/api/requests.h"
#include "store/api/session.h"
#include "store/wake_source.h"

#include <memory>
#include <vector>

namespace millrace::app {

class WorkParts {
 public:
  struct Needs {
    Context& context;
    store::ApiSession& session;
    store::RequestStore& requests;
    const identity::TicketMaker& tickets;
    std::unique_ptr<store::WakeSource> wake;  // For long polls.
    blob::BlobStore* blobs = nullptr;  // Where artifacts are; nothing: they are not handed out.
  };

  // invalid_argument for contracts that cannot be loaded.
  static Result<std::unique_ptr<WorkParts>> make(Needs needs);
  ~WorkParts();
  WorkParts(const WorkParts&) = delete;
  WorkParts& operator=(const WorkParts&) = delete;

  std::vector<api::Operation> operations();

  void start();
  awaitable<void> run();  // Until stop().
  void stop();            // Safe twice and before start().

 private:
  struct Impl;
  explicit WorkParts(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::app
