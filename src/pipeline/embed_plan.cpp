#include "pipeline/embed_plan.h"

#include "pipeline/shown_text.h"

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
    const bool blank = !chunk.text.empty() && is_blank(chunk.text);
    const std::string_view text = blank ? kNeutralText : chunk.text;
    const std::string_view name = blank ? kNeutralText : chunk.embed_sha256;
    if (const auto found = known.find(name); found != known.end()) {
      batch.text_of.push_back(found->second);
      continue;
    }
    const auto tokens = provider.count_tokens(text);
    const bool first = batch.texts.empty();
    const bool unfit = text.empty() || tokens > budget.tokens_per_input_max;
    if (!first && (alone || unfit || batch.texts.size() >= budget.inputs_max ||
                   batch.tokens + tokens > budget.tokens_total_max ||
                   bytes + text.size() > budget.bytes_max)) {
      break;
    }
    alone = unfit;
    known[name] = batch.texts.size();
    batch.text_of.push_back(batch.texts.size());
    batch.texts.emplace_back(text);
    batch.tokens += tokens;
    bytes += text.size();
  }
  return batch;
}

std::string chunk_name(const store::PendingChunk& chunk) {
  return fmt::format("chunk {} ({})", chunk.ord, chunk.id.to_string());
}

}  // namespace millrace::pipeline
