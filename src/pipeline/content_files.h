// ContentFiles: contents of the blob store as files that a child can be given.
//
// A child gets a descriptor, never a path. Content is fetched once, into a file without a name that
// vanishes with the process, and kept while there is room: the hundred pages of a document are a
// hundred tasks over one file. Every open() gives a description of its own, at the start.
//
// Threading: any; concurrent requests for the same content wait for one download. Lifetime: the
// store and the pool of threads outlive it.
#pragma once

#include "base/task.h"
#include "blob/blob_store.h"
#include "sandbox/unique_fd.h"
#include "store/document_store.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::pipeline {

class ContentFiles {
 public:
  struct Options {
    std::filesystem::path folder;          // Where the files without names lie; must exist.
    std::uint64_t bytes_max = 2ULL << 30;  // Kept; one that is larger is kept alone.
    std::size_t files_max = 64;
  };

  ContentFiles(blob::BlobStore& blobs, Executor disk, Options options);
  ~ContentFiles();

  // not_found, unavailable, internal (damaged) as the store says.
  Task<sandbox::UniqueFd> open(store::ContentRef content);
  // Bytes of ours as such a file: what one task made and another reads.
  Task<sandbox::UniqueFd> with_bytes(std::string bytes);
  // An empty one, to be filled by the caller and then reopened for reading.
  Result<sandbox::UniqueFd> scratch() const;
  static Result<sandbox::UniqueFd> reopened(const sandbox::UniqueFd& file);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// All of a small content. internal when it is larger than `bytes_max`.
Task<std::string> read_content(blob::BlobStore& blobs, store::ContentRef content,
                               std::uint64_t bytes_max);

// Stored and described as the settling statements take it: sha256, size_bytes, content_type,
// store_key, stored_at.
Task<json::Object> keep_content(blob::BlobStore& blobs, std::string bytes,
                                std::string content_type);
// The same of bytes that the caller keeps until it is done: large ones are not copied.
Task<json::Object> keep_bytes(blob::BlobStore& blobs, std::string_view bytes,
                              std::string content_type);
// Written again, in pieces, and so young enough to be referred to, however old the first is.
Task<json::Object> keep_again(blob::BlobStore& blobs, std::string store_key,
                              std::string content_type);
json::Object describe_content(const blob::BlobInfo& info, std::string_view content_type);

}  // namespace millrace::pipeline
