#include "app/compute/worker_blobs.h"

#include "app/serve/blob_parts.h"
#include "blob/make_store.h"

#include <boost/asio/thread_pool.hpp>

#include <utility>

namespace millrace::app {

struct WorkerBlobs::Impl {
  boost::asio::thread_pool disk{1};
  std::unique_ptr<blob::BlobStore> store;
};

WorkerBlobs::WorkerBlobs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

WorkerBlobs::~WorkerBlobs() {
  impl_->disk.join();
  impl_->store.reset();
}

Result<std::unique_ptr<WorkerBlobs>> WorkerBlobs::open(const Settings& settings,
                                                       Services services) {
  MR_TRY(auto options, store_options(settings));
  auto impl = std::make_unique<Impl>();
  MR_TRY(impl->store, blob::make_store(std::move(options), {.client = services.client,
                                                            .disk = impl->disk.get_executor(),
                                                            .clock = services.clock,
                                                            .random = services.random}));
  return std::unique_ptr<WorkerBlobs>(new WorkerBlobs(std::move(impl)));
}

blob::BlobStore& WorkerBlobs::store() { return *impl_->store; }

}  // namespace millrace::app
