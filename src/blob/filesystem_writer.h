// FilesystemWriter: one file in staging on its way to its final name.
#pragma once

#include "blob/content_check.h"
#include "blob/file.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace millrace::blob {

class FilesystemWriter final : public BlobWriter {
 public:
  using Step = std::function<void(std::string_view)>;

  // Creates the file; blocks. `base` holds staging and sha256.
  static Result<std::unique_ptr<BlobWriter>> start(std::filesystem::path base,
                                                   std::filesystem::path staged, PutOptions options,
                                                   Executor disk, Step at_step);
  ~FilesystemWriter() override;

  Task<void> write(std::span<const std::byte> bytes) override;
  Task<BlobInfo> finish() override;
  Task<void> abort() override;

 private:
  FilesystemWriter(std::filesystem::path base, std::filesystem::path staged, PutOptions options,
                   Executor disk, Step at_step);

  void step(std::string_view name) const;
  Result<void> write_now(std::span<const std::byte> bytes);
  Result<BlobInfo> finish_now();
  Result<void> publish(const BlobKey& key);

  std::filesystem::path base_;
  std::filesystem::path staged_;
  Executor disk_;
  Step at_step_;
  ContentCheck content_;
  WriterState state_;
  File file_;  // Open as long as the staged file is ours to remove.
};

}  // namespace millrace::blob
