// LocalEmbeddings: a model in this process behind the interface of services that embed.
//
// Made of the folder of a published model; computes on the pool of threads it was given, never on
// the caller's. Costs nothing, so nobody is asked for room or money. Threading: any. Lifetime: the
// pool outlives it.
#pragma once

#include "embed/embedder.h"
#include "provider/embeddings.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace millrace::pipeline {

class LocalEmbeddings final : public provider::EmbeddingProvider {
 public:
  LocalEmbeddings(std::unique_ptr<const embed::Embedder> embedder, Executor threads);

  std::string_view name() const override { return name_; }
  const provider::EmbeddingModelInfo& info() const override { return info_; }
  provider::EmbedBatchLimits limits() const override;
  std::string_view tokenizer() const override { return tokenizer_; }
  std::uint64_t count_tokens(std::string_view text) const override;
  TokenCount token_count() const override;
  bool paid() const override { return false; }
  awaitable<provider::Answer<provider::EmbedAnswer>> embed(std::vector<std::string> texts,
                                                           CancelToken cancel) override;

 private:
  std::unique_ptr<const embed::Embedder> embedder_;
  Executor threads_;
  provider::EmbeddingModelInfo info_;
  std::string name_;
  std::string tokenizer_;
};

// The models of a folder, opened when they are first asked for and kept: reading one takes a
// moment and its weights tens of megabytes, which a worker without documents does not pay.
class LocalModels final {
 public:
  struct Options {
    std::filesystem::path folder;  // One folder below it for each model.
    std::string model;             // Of those who name none.
  };

  LocalModels(Options options, Executor threads)
      : options_(std::move(options)), threads_(std::move(threads)) {}

  // not_found or invalid_argument say what to install or to configure. Any thread.
  Task<provider::EmbeddingProvider*> open(std::string model);

 private:
  Result<provider::EmbeddingProvider*> open_here(const std::string& model);

  Options options_;
  Executor threads_;
  std::mutex mutex_;  // Guards opened_; held while a model is read.
  std::map<std::string, std::unique_ptr<LocalEmbeddings>, std::less<>> opened_;
};

// Where the files of a model lie below the folder of models; empty: there is no such model.
std::filesystem::path model_folder(const std::filesystem::path& folder, std::string_view model);

}  // namespace millrace::pipeline
