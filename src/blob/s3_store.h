// S3Store: blobs as objects of an S3 bucket, at Amazon or at any server that speaks its protocol.
//
// A write is spooled first; then up to part_bytes go in one PutObject, more in a multipart upload
// straight to the final key, which shows nothing until it is completed. No staging key and no copy:
// the spool has told the digest before the first byte leaves. Each request's body is signed by its
// digest, and its checksum sent along for the server to verify and keep. An upload that nobody
// completed is invisible but costs money: sweep_staging() aborts it.
#pragma once

#include "blob/blob_store.h"
#include "blob/remote_reader.h"
#include "blob/s3_dialect.h"
#include "blob/spooled_writer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::blob {

struct S3Options {
  std::string endpoint = {};  // "https://minio.example:9000"; empty: Amazon's of the region.
  std::string public_endpoint =
      {};  // In signed URLs, when clients reach the store by another name.
  std::string region = "us-east-1";
  std::string bucket;
  std::string prefix = {};
  // The bucket in the path and not in the host name; unset: with an endpoint of one's own.
  std::optional<bool> path_style = {};
  AwsCredentials credentials;
  std::uint64_t part_bytes = 16ULL << 20;  // 5 MiB to 1 GiB.
  bool checksums = true;                   // Off for servers that refuse x-amz-checksum-sha256.
  RemoteLimits limits = {};
};

class S3Store final : public BlobStore, private Uploader, private RemoteObjects {
 public:
  // Blocks: makes the spool folder. Does not ask the server anything: see check().
  static Result<std::unique_ptr<S3Store>> make(S3Options options, RemoteServices services);

  std::string_view name() const override { return "s3"; }
  Task<std::unique_ptr<BlobWriter>> create(PutOptions options) override;
  Task<std::unique_ptr<BlobReader>> open(BlobKey key, ByteRange range) override;
  Task<BlobInfo> stat(BlobKey key) override;
  Task<bool> remove(BlobKey key, RemoveOptions options) override;
  Task<BlobPage> list(ListOptions options) override;
  Task<std::optional<SignedUrl>> signed_url(BlobKey key, SignOptions options) override;
  Task<std::size_t> sweep_staging(Clock::Duration older_than) override;
  Task<void> check() override;

 private:
  struct Uploading;  // A multipart upload under way.

  S3Store(S3Options options, Endpoint endpoint, Endpoint public_endpoint, RemoteServices services);

  std::string path_of(const BlobKey& key) const;
  Call get(const BlobKey& key) const override;
  Task<void> check_old(BlobKey key, Clock::Wall before);
  Task<BlobInfo> upload(Upload upload) override;

  // s3_upload.cpp
  Task<BlobInfo> put_whole(Upload upload);
  Task<BlobInfo> put_parts(Upload upload);
  Task<void> send_parts(const Upload* upload, Uploading* uploading);
  Task<std::string> start_parts(const Upload* upload);
  Task<std::string> send_part(const Uploading* uploading, Part part, std::uint64_t number);
  Task<void> complete_parts(const Uploading* uploading);
  Task<void> abort_parts(std::string path, std::string upload_id);

  S3Options options_;
  Endpoint public_endpoint_;
  SpoolSpace space_;
  S3Dialect dialect_;
  Remote remote_;
};

}  // namespace millrace::blob
