// SpooledWriter: takes all bytes into a spool, then hands them to the store under their name.
//
// The one writer of all stores in the network. They differ in Uploader: how the bytes of a spool
// become an object of a given name, in one step that is visible.
#pragma once

#include "blob/content_check.h"
#include "blob/remote.h"
#include "blob/spool.h"

#include <memory>

namespace millrace::blob {

// Everything that is known of a blob when its upload begins.
struct Upload {
  BlobKey key;
  std::string content_type;
  Spool* spool = nullptr;
  std::uint64_t size_bytes() const { return spool->size_bytes(); }
};

class Uploader {
 public:
  virtual ~Uploader() = default;
  virtual Task<BlobInfo> upload(Upload upload) = 0;
};

class SpooledWriter final : public BlobWriter {
 public:
  SpooledWriter(Uploader& uploader, std::unique_ptr<Spool> spool, PutOptions options,
                Executor disk);
  ~SpooledWriter() override;

  Task<void> write(std::span<const std::byte> bytes) override;
  Task<BlobInfo> finish() override;
  Task<void> abort() override;

 private:
  Result<void> write_now(std::span<const std::byte> bytes);

  Uploader& uploader_;
  std::unique_ptr<Spool> spool_;
  ContentCheck content_;
  WriterState state_;
  Executor disk_;
};

// A spool in a writer; for BlobStore::create.
Task<std::unique_ptr<BlobWriter>> spooled_writer(Uploader& uploader, SpoolSpace& space,
                                                 PutOptions options, Executor disk);

// A part of a spool and its digests, read once for that.
enum class PartDigest { sha256, md5 };
Task<Part> digested_part(Spool* spool, std::uint64_t offset, std::uint64_t size_bytes,
                         PartDigest digest, Executor disk);

}  // namespace millrace::blob
