#include "app/serve/late_store.h"

namespace millrace::app {

Result<void> LateStore::ready() const {
  if (store_) return ok();
  return fail(ErrorKind::unavailable, "the blob store is not open");
}

Task<std::unique_ptr<blob::BlobWriter>> LateStore::create(blob::PutOptions options) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->create(std::move(options));
}

Task<std::unique_ptr<blob::BlobReader>> LateStore::open(blob::BlobKey key, blob::ByteRange range) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->open(key, range);
}

Task<blob::BlobInfo> LateStore::stat(blob::BlobKey key) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->stat(key);
}

Task<bool> LateStore::remove(blob::BlobKey key, blob::RemoveOptions options) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->remove(key, options);
}

Task<blob::BlobPage> LateStore::list(blob::ListOptions options) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->list(std::move(options));
}

Task<std::optional<blob::SignedUrl>> LateStore::signed_url(blob::BlobKey key,
                                                           blob::SignOptions options) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->signed_url(key, std::move(options));
}

Task<std::size_t> LateStore::sweep_staging(Clock::Duration older_than) {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->sweep_staging(older_than);
}

Task<void> LateStore::check() {
  MR_CO_TRY_VOID(ready());
  co_return co_await store_->check();
}

}  // namespace millrace::app
