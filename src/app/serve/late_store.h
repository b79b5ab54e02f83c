// LateStore: the place of a blob store that is opened when the server starts.
//
// Opening makes folders; describing the API, which needs a store to bind its operations to, must
// not. Threading: put() before anything else is asked, then as the store. Not opened: unavailable.
#pragma once

#include "blob/blob_store.h"

#include <memory>
#include <utility>

namespace millrace::app {

class LateStore final : public blob::BlobStore {
 public:
  void put(std::unique_ptr<blob::BlobStore> store) { store_ = std::move(store); }

  std::string_view name() const override { return store_ ? store_->name() : "none"; }
  Task<std::unique_ptr<blob::BlobWriter>> create(blob::PutOptions options) override;
  Task<std::unique_ptr<blob::BlobReader>> open(blob::BlobKey key, blob::ByteRange range) override;
  Task<blob::BlobInfo> stat(blob::BlobKey key) override;
  Task<bool> remove(blob::BlobKey key, blob::RemoveOptions options) override;
  Task<blob::BlobPage> list(blob::ListOptions options) override;
  Task<std::optional<blob::SignedUrl>> signed_url(blob::BlobKey key,
                                                  blob::SignOptions options) override;
  Task<std::size_t> sweep_staging(Clock::Duration older_than) override;
  Task<void> check() override;

 private:
  Result<void> ready() const;

  std::unique_ptr<blob::BlobStore> store_;
};

}  // namespace millrace::app
