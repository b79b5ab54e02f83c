#include "blob/make_store.h"

namespace millrace::blob {
namespace {

Result<std::unique_ptr<BlobStore>> make(FilesystemOptions options, RemoteServices services) {
  return FilesystemStore::make(std::move(options), services.disk, services.clock, services.random);
}
Result<std::unique_ptr<BlobStore>> make(S3Options options, RemoteServices services) {
  return S3Store::make(std::move(options), std::move(services));
}
Result<std::unique_ptr<BlobStore>> make(AzureOptions options, RemoteServices services) {
  return AzureStore::make(std::move(options), std::move(services));
}
Result<std::unique_ptr<BlobStore>> make(SupabaseOptions options, RemoteServices services) {
  return SupabaseStore::make(std::move(options), std::move(services));
}

}  // namespace

Result<std::unique_ptr<BlobStore>> make_store(StoreOptions options, RemoteServices services) {
  return std::visit(
      [&services](auto chosen) { return make(std::move(chosen), std::move(services)); },
      std::move(options));
}

}  // namespace millrace::blob
