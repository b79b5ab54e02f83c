// OutputFiles: the files that a document is handed out as, written side by side while its pages go
// by one at a time.
#pragma once

#include "blob/blob_store.h"
#include "output/manifest.h"
#include "store/document_store.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::pipeline {

// The file itself as the PDF that is handed out.
json::Object source_output();

class OutputFiles {
 public:
  explicit OutputFiles(blob::BlobStore& blobs) : blobs_(blobs) {}

  // `kind` names it from then on.
  Task<void> open(std::string kind, std::string file_name, std::string content_type);
  Task<void> write(std::string_view kind, std::string text);
  blob::BlobWriter& writer(std::string_view kind);
  // All of them are stored when this returns. In the order of their kinds.
  Task<void> finish();
  // One at once.
  Task<void> add(std::string kind, std::string file_name, std::string content_type,
                 std::string text);

  // The PDF is the file as it came.
  void add_source(const store::ContentRef& content);
  // What a stage made of the whole document, as it lies there.
  void add_result(std::string_view stage, const store::ContentRef& content, std::string kind,
                  std::string file_name, std::string content_type);

  // As millrace.put_outputs takes them.
  const json::Array& outputs() const { return outputs_; }
  const std::vector<output::ManifestArtifact>& artifacts() const { return artifacts_; }

 private:
  struct File {
    std::string file_name;
    std::string content_type;
    std::unique_ptr<blob::BlobWriter> writer;
  };
  void note(std::string kind, const File& file, const blob::BlobInfo& info);

  blob::BlobStore& blobs_;
  std::map<std::string, File, std::less<>> open_;
  json::Array outputs_;
  std::vector<output::ManifestArtifact> artifacts_;
};

}  // namespace millrace::pipeline
