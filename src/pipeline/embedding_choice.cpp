#include "pipeline/embedding_choice.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::pipeline {
namespace {

// Larger chunks find less: what is asked is about a paragraph, not about a chapter.
constexpr std::size_t kUsefulTokens = 2'048;

class ModelTokens final : public chunk::TokenCounter {
 public:
  explicit ModelTokens(const provider::EmbeddingProvider& provider)
      : provider_(provider), count_(provider.token_count()) {}
  std::string_view name() const override { return provider_.tokenizer(); }
  std::size_t count(std::string_view text) const override {
    return static_cast<std::size_t>(count_(text));
  }

 private:
  const provider::EmbeddingProvider& provider_;
  const provider::EmbeddingProvider::TokenCount count_;
};

std::size_t option(const Stage& stage, std::string_view name, std::size_t otherwise) {
  const auto* value = stage.options.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<std::size_t>() : otherwise;
}

}  // namespace

awaitable<std::expected<EmbeddingService, Outcome>> embedding_of(StageJob& job) {
  const auto* stage = stage_doing(*job.pipeline, RunKind::embed);
  if (stage == nullptr) {
    co_return std::unexpected(Outcome::permanent(
        "no_embed", fmt::format("pipeline {} has no stage \"embed\"", job.pipeline->name)));
  }
  const auto found = job.services.embeddings.find(stage->provider);
  if (found == job.services.embeddings.end()) {
    co_return std::unexpected(Outcome::not_here(
        stage->provider,
        fmt::format("provider {} does not embed on this worker: it is not configured",
                    stage->provider)));
  }
  const auto* model = stage->options.if_contains("model");
  auto service = co_await found->second(
      model != nullptr && model->is_string() ? std::string(model->get_string()) : std::string());
  if (!service) {
    co_return std::unexpected(Outcome::not_here(stage->provider, service.error().message));
  }
  co_return *service;
}

std::unique_ptr<chunk::TokenCounter> counter_of(const provider::EmbeddingProvider& provider) {
  return std::make_unique<ModelTokens>(provider);
}

chunk::ChunkOptions chunk_options(const Stage& stage, const provider::EmbeddingProvider& provider) {
  const auto model_max = static_cast<std::size_t>(provider.limits().tokens_per_input_max);
  chunk::ChunkOptions options;
  // A text that the model would cut is never handed out: its limit bounds what the file says.
  options.max_tokens =
      std::min(model_max, option(stage, "max_tokens", std::min(model_max, kUsefulTokens)));
  options.target_tokens =
      std::min(options.max_tokens, option(stage, "target_tokens", options.max_tokens * 3 / 4));
  options.min_tokens =
      std::min(options.target_tokens / 2, option(stage, "min_tokens", options.max_tokens / 8));
  options.overlap_tokens =
      std::min(options.max_tokens * 15 / 100, option(stage, "overlap_tokens", 0));
  options.prefix_share_percent = option(stage, "prefix_share_percent", 25);
  return options;
}

}  // namespace millrace::pipeline
