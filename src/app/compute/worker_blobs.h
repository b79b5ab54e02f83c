// WorkerBlobs: the blob store of this installation as a worker uses it, with a thread for its disk.
//
// Lifetime: client, clock and random outlive it.
#pragma once

#include "app/config/settings.h"
#include "base/clock.h"
#include "base/random.h"
#include "blob/blob_store.h"
#include "http/client.h"

#include <memory>

namespace millrace::app {

class WorkerBlobs {
 public:
  struct Services {
    http::Client& client;
    Clock& clock;
    Random& random;
  };

  // Blocks: makes folders. As storage.* says.
  static Result<std::unique_ptr<WorkerBlobs>> open(const Settings& settings, Services services);
  ~WorkerBlobs();
  WorkerBlobs(const WorkerBlobs&) = delete;
  WorkerBlobs& operator=(const WorkerBlobs&) = delete;

  blob::BlobStore& store();

 private:
  struct Impl;
  explicit WorkerBlobs(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::app
