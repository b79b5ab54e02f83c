// AzureStore: blobs as block blobs of a container in an Azure storage account.
//
// A write is spooled first; then up to block_bytes go in one Put Blob, more as blocks of the final
// name, which show nothing until Put Block List makes them the blob. Azure checks an MD5 of every
// request's body. Block ids are made of the block's number and size: two writers of one content
// send the same blocks under the same ids, so that neither can spoil the other's list. Blocks that
// nobody listed cost nothing to find and are removed by Azure itself after a week: there is nothing
// to sweep.
#pragma once

#include "blob/azure_dialect.h"
#include "blob/blob_store.h"
#include "blob/remote_reader.h"
#include "blob/spooled_writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::blob {

struct AzureOptions {
  std::string account;
  Secret<std::string> key;  // Base64, as the portal shows it.
  std::string container;
  std::string prefix = {};
  // Empty: https://<account>.blob.core.windows.net. An emulator has the account in its path.
  std::string endpoint = {};
  std::string public_endpoint =
      {};  // In signed URLs, when clients reach the store by another name.
  std::uint64_t block_bytes = 16ULL << 20;  // 1 MiB to 1 GiB.
  RemoteLimits limits = {};
};

class AzureStore final : public BlobStore, private Uploader, private RemoteObjects {
 public:
  // Blocks: makes the spool folder. Does not ask the server anything: see check().
  static Result<std::unique_ptr<AzureStore>> make(AzureOptions options, RemoteServices services);

  std::string_view name() const override { return "azure"; }
  Task<std::unique_ptr<BlobWriter>> create(PutOptions options) override;
  Task<std::unique_ptr<BlobReader>> open(BlobKey key, ByteRange range) override;
  Task<BlobInfo> stat(BlobKey key) override;
  Task<bool> remove(BlobKey key, RemoveOptions options) override;
  Task<BlobPage> list(ListOptions options) override;
  Task<std::optional<SignedUrl>> signed_url(BlobKey key, SignOptions options) override;
  Task<std::size_t> sweep_staging(Clock::Duration older_than) override;
  Task<void> check() override;

 private:
  AzureStore(AzureOptions options, Endpoint endpoint, Endpoint public_endpoint,
             AzureAccount account, RemoteServices services);

  std::string name_of(const BlobKey& key) const { return options_.prefix + key.text(); }
  std::string path_of(const BlobKey& key) const;
  Call get(const BlobKey& key) const override;
  Task<BlobInfo> upload(Upload upload) override;
  Task<BlobInfo> put_whole(Upload upload);
  Task<BlobInfo> put_blocks(Upload upload);
  Task<std::vector<std::string>> send_blocks(const Upload* upload);
  Task<void> commit_blocks(const Upload* upload, std::vector<std::string> ids);

  AzureOptions options_;
  Endpoint public_endpoint_;
  SpoolSpace space_;
  AzureDialect dialect_;
  Remote remote_;
};

}  // namespace millrace::blob
