// How chunks that wait for their vectors become batches: as many as the smallest of all limits
// allows (B-15, B-16). Pure.
#pragma once

#include "provider/embeddings.h"
#include "store/ingest_store.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace millrace::pipeline {

struct EmbedBatch {
  // Texts that are sent, each once, blank ones as kNeutralText; and for each chunk the place of its
  // text among them.
  std::vector<std::string> texts = {};
  std::vector<std::size_t> text_of = {};  // As many as chunks, the first ones of those that wait.
  std::uint64_t tokens = 0;               // An upper bound.

  std::size_t chunks() const { return text_of.size(); }
};

struct EmbedBudget {
  std::size_t inputs_max = 256;
  std::uint64_t tokens_per_input_max = 0;
  std::uint64_t tokens_total_max = 0;
  std::uint64_t bytes_max = std::uint64_t{4} * 1024 * 1024;  // Of texts: memory.
};

EmbedBudget budget_of(const provider::EmbedBatchLimits& limits, std::size_t batch_max);

// The batch that begins with the first one. At least one chunk unless there is none. A text that is
// above the limits is a batch of its own, and refused before it is sent (check_embed_request).
EmbedBatch plan_batch(std::span<const store::PendingChunk> waiting,
                      const provider::EmbeddingProvider& provider, const EmbedBudget& budget);

// As errors name the chunk that a batch begins with: "chunk 17 (6f1c…)".
std::string chunk_name(const store::PendingChunk& chunk);

}  // namespace millrace::pipeline
