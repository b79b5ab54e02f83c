#include "pipeline/embed_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kBatchMax = 256;  // B-15

}  // namespace

EmbedBudget budget_of(const provider::EmbedBatchLimits& limits, std::size_t batch_max) {
  return {
      .inputs_max = std::min({kBatchMax, limits.inputs_max, std::max<std::size_t>(batch_max, 1)}),
      .tokens_per_input_max = limits.tokens_per_input_max,
      .tokens_total_max = limits.tokens_total_max};
}

EmbedBatch plan_batch(std::span<const store::PendingChunk> waiting,
                      const provider::EmbeddingProvider& provider, const EmbedBudget& budget) {
  EmbedBatch batch;
  std::map<std::string_view, std::size_t> known;  // Of equal texts one is sent.
  std::uint64_t bytes = 0;
  bool alone = false;  // What a text that does not fit is refused for concerns no other.
  for (const auto& chunk : waiting) {
    if (batch.chunks() >= kBatchMax) break;
    if (const auto found = known.find(chunk.embed_sha256); found != known.end()) {
      batch.text_of.push_back(found->second);
      continue;
    }
    const auto tokens = provider.count_tokens(chunk.text);
    const bool first = batch.texts.empty();
    const bool unfit = chunk.text.empty() || tokens > budget.tokens_per_input_max;
    if (!first && (alone || unfit || batch.texts.size() >= budget.inputs_max ||
                   batch.tokens + tokens > budget.tokens_total_max ||
                   bytes + chunk.text.size() > budget.bytes_max)) {
      break;
    }
    alone = unfit;
    known[chunk.embed_sha256] = batch.texts.size();
    batch.text_of.push_back(batch.texts.size());
    batch.texts.push_back(chunk.text);
    batch.tokens += tokens;
    bytes += chunk.text.size();
  }
  return batch;
}

std::string chunk_name(const store::PendingChunk& chunk) {
  return fmt::format("chunk {} ({})", chunk.ord, chunk.id.to_string());
}

}  // namespace millrace::pipeline
